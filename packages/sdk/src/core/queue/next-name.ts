/**
 * How many names of one write are looked up. A write gets a new name each time the log is replaced, and each time its
 * texts are merged, which happens five times in a row at most.
 */
export const NAMES = 8;

/** `tx` → `tx~1` → `tx~2`. Deterministic, so that all tabs derive the same name. */
export function nextName(clientTxId: string): string {
  const [, stem = clientTxId, count = "0"] = /^(.*)~(\d+)$/.exec(clientTxId) ?? [];
  return `${stem}~${Number(count) + 1}`;
}
