/** How the mirror stands, as this page's own backend tells it (see dev/mirror-plugin.ts). */
export type MirrorReport = RunningReport | { readonly isRunning: false; readonly isStarting: boolean };

export interface RunningReport {
  readonly isRunning: true;
  /** Records in the mirror's own database. */
  readonly rows: number;
  /** It was told to fail. */
  readonly isFailing: boolean;
  /** What the server delivers to. */
  readonly status: "enabled" | "disabled";
  /** Events that it was not told yet. */
  readonly lag: number;
  /** Attempts that were begun with the batch that is next. */
  readonly attempt: number;
  /** When it is tried again; null: at once, or there is nothing to try. */
  readonly nextAttemptInMs: number | null;
  /** The waits before each attempt. */
  readonly scheduleMs: readonly number[];
  /** The newest first. */
  readonly attempts: readonly MirrorAttempt[];
}

export interface MirrorAttempt {
  readonly id: string;
  readonly startedAt: string;
  readonly outcome: "succeeded" | "failed" | "unknown";
  /** What was answered: a status, or in few words why there was no answer. */
  readonly answer: string;
  readonly events: number;
}
