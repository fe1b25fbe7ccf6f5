/** One build of the page: its document, and all that this may load, under names that change with what is in them. */
export interface Shell {
  readonly version: string;
  readonly document: string;
  readonly files: readonly string[];
}

/** Where the newest build tells of itself. */
export const SHELL_ADDRESS = "/shell.json";

/** The folder of the files whose names change with their content: what lies there under a name is always the same. */
export const FILES = "/assets/";
