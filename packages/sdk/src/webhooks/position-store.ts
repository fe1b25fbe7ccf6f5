/** Where a receiver keeps how far it has come. */
export interface PositionStore {
  /** The `syncId` of the last event that was applied; 0, null or undefined: none yet. Asked at the beginning of each delivery. */
  read(): number | null | undefined | Promise<number | null | undefined>;
  /** That event was applied. A receiver whose `onEvent` writes it along with the data, in one transaction, does nothing here. */
  write(syncId: number): unknown;
}

/** Lives as long as the process. After a restart what was applied before may be handed over once more. */
export function memoryPosition(): PositionStore {
  let position = 0;
  return {
    read: () => position,
    write: (syncId) => {
      position = syncId;
    },
  };
}
