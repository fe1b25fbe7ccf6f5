/** One build of the page: its document, and all that this may load, under names that change with what is in them. */
export interface Shell {
  readonly version: string;
  readonly document: string;
  /** Relative to the worker. */
  readonly files: readonly string[];
}

/** Where the newest build lists its files, relative to the worker. */
export const SHELL_ADDRESS = "shell.json";
