/** Work that repeats while the server runs. */
export interface Worker {
  /** Waits for the current run. */
  stop(): Promise<void>;
}
