import type { Batch } from "./batches.ts";
import type { Outcome } from "./deliver.ts";

/** `2026-01-02T03:04:05.678Z  41-43  3 events (slide.created ×2, slide.updated)  200  12 ms` */
export function deliveryLine(at: string, { from, to, types }: Batch, outcome: Outcome, againMs?: number): string {
  const { status, fault, ms } = outcome;
  const words = [status === null ? undefined : String(status), fault && brief(fault.message)].filter(Boolean).join(" ");
  const parts = [
    at,
    from === to ? String(from) : `${from}-${to}`,
    `${types.length} ${types.length === 1 ? "event" : "events"} (${countsOf(types)})`,
    words,
    `${ms} ms`,
    ...(againMs === undefined ? [] : [`again in ${againMs / 1_000} s`]),
  ];
  return parts.join("  ");
}

/** One request as a line of JSON. */
export const deliveryJson = (
  at: string,
  { from, to, types }: Batch,
  { webhookId, status, fault, ms }: Outcome,
  attempt: number,
): string =>
  JSON.stringify({
    object: "webhook_delivery",
    at,
    webhookId,
    from,
    to,
    events: types.length,
    attempt,
    status,
    error: fault ?? null,
    durationMs: ms,
  });

/** Up to three types, the most frequent first. */
function countsOf(types: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  const shown = sorted.slice(0, 3).map(([type, count]) => (count === 1 ? type : `${type} ×${count}`));
  return [...shown, ...(sorted.length > 3 ? [`${sorted.length - 3} other types`] : [])].join(", ");
}

/** The first line, and not all of a long one. Control characters are not for terminals. */
function brief(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out.
  const line = (text.split(/[\r\n]/)[0] ?? "").replace(/[\u0000-\u001f\u007f-\u009f]/g, " ");
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}
