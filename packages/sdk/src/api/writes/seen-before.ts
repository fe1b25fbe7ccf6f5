import type { Row } from "../../protocol/commits/apply.ts";

/** The records of a write as they were before it, for its undo, by their keys. */
export type SeenBefore = Map<string, Row | undefined>;

/** What the undo of a write has, as long as the app has the write. */
export interface SeenRecords {
  remember(before: SeenBefore): void;
  /** Takes records from all of them: these writes cannot be undone there any more. */
  forget(keys: readonly string[]): void;
}

/** How many writes are made until those that the app has dropped are looked for. */
const SWEEP_AFTER = 1_000;

export function seenRecords(): SeenRecords {
  let refs: WeakRef<SeenBefore>[] = [];
  let sweepAt = SWEEP_AFTER;
  return {
    remember(before) {
      refs.push(new WeakRef(before));
      if (refs.length < sweepAt) return;
      refs = refs.filter((ref) => ref.deref());
      sweepAt = refs.length + SWEEP_AFTER;
    },
    forget(keys) {
      for (const ref of refs) for (const key of keys) ref.deref()?.delete(key);
    },
  };
}
