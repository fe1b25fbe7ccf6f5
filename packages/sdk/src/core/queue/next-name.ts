/** So many names of one write are looked for: it goes on under another each time that the log is replaced. */
export const NAMES = 3;

/** `tx` → `tx~1` → `tx~2`: every tab comes to the same name without asking. */
export function nextName(clientTxId: string): string {
  const [, stem = clientTxId, count = "0"] = /^(.*)~(\d+)$/.exec(clientTxId) ?? [];
  return `${stem}~${Number(count) + 1}`;
}
