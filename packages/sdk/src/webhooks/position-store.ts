/** A position and its log. Another log (a restored database) assigns the same positions to other events. */
export interface LogPosition {
  readonly syncId: number;
  readonly logId: string;
}

type Known = LogPosition | number | null | undefined;

/** Stores a receiver's position. */
export interface PositionStore {
  /**
   * The position of the last applied event; 0, null or undefined: none yet. Called at the start of each delivery. A
   * store that returns a number does not know the log: after a restore, it skips events whose positions were used
   * before.
   */
  read(): Known | Promise<Known>;
  /**
   * Called after an event was applied. If your `onEvent` stores the position with its data in one transaction, leave
   * this empty.
   */
  write(syncId: number, logId: string): unknown;
}

/** Lives as long as the process. After a restart, applied events may be delivered again. */
export function memoryPosition(): PositionStore {
  let position: LogPosition | undefined;
  return {
    read: () => position,
    write: (syncId, logId) => {
      position = { syncId, logId };
    },
  };
}
