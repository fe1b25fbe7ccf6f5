import { changeAttributionOf, type LogEntry, type WebhookEvent, webhookLimits } from "@holdfast/sdk/protocol";
import type { Named } from "./evidence.ts";

/** The parsed body, or its error. */
export type Shaped = { readonly events: readonly WebhookEvent[] } | { readonly fault: string };

const KEYS = ["type", "model", "objectId", "data", "syncId", "id", "createdAt"];
/** A test has no actor; only a change that says why has the others. */
const MORE: ReadonlySet<string> = new Set(["actor", "participantKind", "reason", "run", "onBehalfOf", "meta"]);

export function readBody(text: string): Shaped {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { fault: "is no JSON" };
  }
  if (!isObject(body) || !Array.isArray(body.data)) return { fault: "is not an object with data" };
  const { data: _, logId, ...others } = body;
  if (Object.keys(others).length > 0 || (logId !== undefined && typeof logId !== "string"))
    return { fault: "is not an object with data and the name of a log alone" };
  for (const event of body.data)
    if (!isEvent(event)) return { fault: `has something that is no event: ${JSON.stringify(event)?.slice(0, 200)}` };
  return { events: body.data as WebhookEvent[] };
}

const isEvent = (event: unknown): boolean =>
  isObject(event) &&
  KEYS.every((key) => key in event) &&
  Object.keys(event).every((key) => MORE.has(key) || KEYS.includes(key));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The limits of number and size. A single event may exceed the size. */
export function judgeSize(text: string, events: readonly WebhookEvent[]): string | undefined {
  if (events.length === 0) return "is empty";
  if (events.length > webhookLimits.batchEvents) return `has ${events.length} events`;
  const bytes = Buffer.byteLength(text);
  return bytes > webhookLimits.batchBytes && events.length > 1 ? `has ${bytes} bytes` : undefined;
}

/** Whether the events are in the log's order, and the name has the first and last position. */
export function judgeRange(events: readonly WebhookEvent[], { from, to }: Named): string | undefined {
  for (const [i, { syncId }] of events.entries())
    if (syncId <= (events[i - 1]?.syncId ?? 0)) return `has ${syncId} behind ${events[i - 1]?.syncId}`;
  if (events[0]?.syncId !== from || events.at(-1)?.syncId !== to)
    return `goes from ${events[0]?.syncId} to ${events.at(-1)?.syncId}, its name says from ${from} to ${to}`;
  return undefined;
}

/** Compares an event with its log entry. Returns the difference. */
export function judgeEvent(event: WebhookEvent, entry: LogEntry | undefined): string | undefined {
  if (!entry) return `${event.syncId} is not in the log`;
  const [found, wanted] = [JSON.stringify(inOrder(event)), JSON.stringify(eventOf(entry))];
  return found === wanted ? undefined : `${event.syncId} says ${shorten(found)}, the log ${shorten(wanted)}`;
}

/** The keys of an event may be in any order; the order of a row's keys must match. */
const inOrder = (event: WebhookEvent): WebhookEvent => ({
  type: event.type,
  model: event.model,
  objectId: event.objectId,
  data: event.data,
  syncId: event.syncId,
  id: event.id,
  createdAt: event.createdAt,
  ...(event.actor !== undefined && { actor: event.actor }),
  ...(event.participantKind && { participantKind: event.participantKind }),
  ...changeAttributionOf(event),
});

const eventOf = (entry: LogEntry): WebhookEvent => ({
  type: `${entry.model.toLowerCase()}.${entry.verb}`,
  model: entry.model,
  objectId: entry.id,
  data: entry.data,
  syncId: entry.syncId,
  id: String(entry.syncId),
  createdAt: entry.createdAt,
  actor: entry.actor,
  participantKind: entry.participantKind,
  ...changeAttributionOf(entry),
});

const shorten = (text: string) => (text.length > 300 ? `${text.slice(0, 300)} …` : text);
