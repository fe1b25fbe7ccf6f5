import type { WebhookBatch } from "../../rules/webhooks/webhook-batch.ts";
import type { ToldEvent } from "./batches.ts";
import type { ForwardedBatch } from "./send-batch.ts";

/** `2026-01-02T03:04:05.678Z  41-43  3 events (slide.created ×2, slide.updated)  200  12 ms` */
export function sentLine(batch: WebhookBatch<ToldEvent>, sent: ForwardedBatch, againMs?: number): string {
  const { from, to, events } = batch;
  const parts = [
    sent.startedAt,
    from === to ? String(from) : `${from}-${to}`,
    `${events.length} ${events.length === 1 ? "event" : "events"} (${countsOf(events)})`,
    wordsOf(sent),
    `${sent.durationMs} ms`,
    ...(againMs === undefined ? [] : [`again in ${againMs / 1_000} s`]),
  ];
  return parts.join("  ");
}

/** The same as JSON, its keys those of the server's attempts. */
export function sentJson({ from, to, events }: WebhookBatch<ToldEvent>, sent: ForwardedBatch, attempt: number): string {
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

/** The status and what the handler says, or why there was no answer. */
function wordsOf({ outcome, response }: ForwardedBatch): string {
  if (outcome.kind === "succeeded") return String(outcome.status);
  if (outcome.kind === "unknown" || outcome.status === null) return outcome.message;
  const said = outcome.code === "redirected" ? outcome.message : brief(response ?? "");
  return said === "" ? String(outcome.status) : `${outcome.status} ${said}`;
}

/** Up to three types, the most frequent first. */
function countsOf(events: readonly ToldEvent[]): string {
  const counts = new Map<string, number>();
  for (const { type } of events) counts.set(type, (counts.get(type) ?? 0) + 1);
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  const shown = sorted.slice(0, 3).map(([type, count]) => (count === 1 ? type : `${type} ×${count}`));
  return [...shown, ...(sorted.length > 3 ? [`${sorted.length - 3} other types`] : [])].join(", ");
}

/** The first line, and not all of a long one. Control characters are not for terminals. */
function brief(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out.
  const line = (text.trim().split(/[\r\n]/)[0] ?? "").replace(/[\u0000-\u001f\u007f-\u009f]/g, " ");
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}
