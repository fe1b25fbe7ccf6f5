import type { WebhookBatch } from "../rules/webhook-batch.ts";
import type { LocalEvent } from "./batches.ts";
import type { ForwardedBatch } from "./send-batch.ts";

/** `2026-01-02T03:04:05.678Z  41-43  3 events (slide.created ×2, slide.updated)  200  12 ms` */
export function deliveryLine(batch: WebhookBatch<LocalEvent>, sent: ForwardedBatch, againMs?: number): string {
  const { from, to, events } = batch;
  const parts = [
    sent.startedAt,
    from === to ? String(from) : `${from}-${to}`,
    `${events.length} ${events.length === 1 ? "event" : "events"} (${countsOf(events)})`,
    outcomeText(sent),
    `${sent.durationMs} ms`,
    ...(againMs === undefined ? [] : [`again in ${againMs / 1_000} s`]),
  ];
  return parts.join("  ");
}

/** The same as JSON, with the keys of the server's attempts. */
export function deliveryJson(
  { from, to, events }: WebhookBatch<LocalEvent>,
  sent: ForwardedBatch,
  attempt: number,
): string {
  const { webhookId, outcome, response, startedAt, durationMs } = sent;
  return JSON.stringify({
    object: "webhook_delivery",
    webhookId,
    from,
    to,
    events: events.length,
    attempt,
    outcome: outcome.kind,
    status: outcome.kind === "unknown" ? null : outcome.status,
    error: outcome.kind === "succeeded" ? null : { code: outcome.code, message: outcome.message },
    response,
    startedAt,
    durationMs,
  });
}

/** The status and the handler's response, or the reason why there was none. */
function outcomeText({ outcome, response }: ForwardedBatch): string {
  if (outcome.kind === "succeeded") return String(outcome.status);
  if (outcome.kind === "unknown" || outcome.status === null) return outcome.message;
  const detail = outcome.code === "redirected" ? outcome.message : brief(response ?? "");
  return detail === "" ? String(outcome.status) : `${outcome.status} ${detail}`;
}

/** Up to three types, the most frequent first. */
function countsOf(events: readonly LocalEvent[]): string {
  const counts = new Map<string, number>();
  for (const { type } of events) counts.set(type, (counts.get(type) ?? 0) + 1);
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  const shown = sorted.slice(0, 3).map(([type, count]) => (count === 1 ? type : `${type} ×${count}`));
  return [...shown, ...(sorted.length > 3 ? [`${sorted.length - 3} other types`] : [])].join(", ");
}

/** The first line, shortened if it is long, and without control characters, which a terminal would interpret. */
function brief(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out.
  const line = (text.trim().split(/[\r\n]/)[0] ?? "").replace(/[\u0000-\u001f\u007f-\u009f]/g, " ");
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}
