/** A position, and the log that it counts in. Another log (a restored database) gives the same positions to other events. */
export interface LogPosition {
  readonly syncId: number;
  /** Undefined: the delivery did not say. */
  readonly logId: string | undefined;
}

type Known = LogPosition | number | null | undefined;

/** Where a receiver keeps how far it has come. */
export interface PositionStore {
  /**
   * The last event that was applied; 0, null or undefined: none yet. Asked at the beginning of each delivery. A store that
   * gives a number does not know the log: after a restore, events are skipped whose positions were given before.
   */
  read(): Known | Promise<Known>;
  /** That event was applied. A receiver whose `onEvent` writes it along with the data, in one transaction, does nothing here. */
  write(syncId: number, logId: string | undefined): unknown;
}

/** Lives as long as the process. After a restart what was applied before may be handed over once more. */
export function memoryPosition(): PositionStore {
  let position: LogPosition | number = 0;
  return {
    read: () => position,
    write: (syncId, logId) => {
      position = logId === undefined ? syncId : { syncId, logId };
    },
  };
}
