import { readLogWithin } from "../db/log.ts";
import { readSchema } from "../db/model-schemas.ts";
import type { Database } from "../db/pool.ts";
import type { SizedEvent } from "../rules/webhook-batch.ts";
import { type EventText, eventOf } from "../rules/webhook-event.ts";
import type { SchemaCache } from "./schema-cache.ts";

/** A change as it is sent: made once, for all who are told of it. */
export interface WebhookEvent extends SizedEvent {
  /** In lower case. */
  readonly model: string;
  /** JSON in UTF-8. */
  readonly json: Buffer;
}

/** Everything that there is to tell of the positions in (after, to]. */
export interface EventPage {
  readonly to: number;
  readonly events: readonly WebhookEvent[];
}

/**
 * The log as events. Endpoints that keep up are told the same at nearly the same time: the end of each world's log is
 * read once and kept for all of them; whoever is far behind reads for itself.
 */
export interface WebhookEvents {
  /** A page of what comes after a position, of so many positions where it is far from the end. */
  read(place: LogPlace, after: number, most: number): Promise<EventPage>;
}

/** A log that reaches to `head` at least, and the schema whose words it is told in. */
export interface LogPlace {
  readonly world: number;
  readonly head: number;
  readonly schemaVersion: number;
}

/** The end of a log: what there is to tell of the positions in (from, to]. */
interface End {
  readonly schemaVersion: number;
  readonly from: number;
  readonly to: number;
  readonly events: readonly WebhookEvent[];
}

/** Positions kept of each world; who is further behind reads for itself. */
const KEPT = 1_000;
const KEPT_BYTES = 4 * 1024 * 1024;
const MOST_WORLDS = 200;
/** Of one page, as stored: rows may have a MiB each. */
const READ_BYTES = 4 * 1024 * 1024;

export function webhookEvents(db: Database, schemas: SchemaCache): WebhookEvents {
  const ends = new Map<number, End>();
  const reading = new Map<number, Promise<End>>();

  async function fetch({ world, schemaVersion }: LogPlace, after: number, to: number): Promise<EventPage> {
    const { models } =
      schemas.get(world, schemaVersion) ?? schemas.put(world, await readSchema(db, world, schemaVersion));
    const entries = await readLogWithin(db, world, { after, to, bytes: READ_BYTES });
    const last = entries.at(-1);
    // A log is not trimmed beyond what somebody is still to be told.
    if (!last) throw new Error(`World ${world} has no log entries in (${after}, ${to}], which are to be told.`);
    const events = entries.flatMap((entry) => {
      const event = eventOf(entry, models.get(entry.model));
      return event ? [encoded(event)] : [];
    });
    return { to: last.syncId, events };
  }

  /** The end as far as the head, read on from where it was; what is kept of it may be less. */
  async function follow(place: LogPlace, after: number): Promise<End> {
    const { world, head, schemaVersion } = place;
    const known = ends.get(world);
    const goesOn = known?.schemaVersion === schemaVersion && after >= known.from && after <= known.to;
    const [from, start, before] = goesOn ? [known.from, known.to, known.events] : [after, after, []];
    const more = await fetch(place, start, Math.min(head, start + KEPT));
    const end = { schemaVersion, from, to: more.to, events: [...before, ...more.events] };
    ends.delete(world);
    ends.set(world, trimmed(end));
    const [oldest] = ends.keys();
    if (ends.size > MOST_WORLDS && oldest !== undefined) ends.delete(oldest);
    return end;
  }

  async function endOf(place: LogPlace, after: number): Promise<End> {
    const { world, schemaVersion } = place;
    for (;;) {
      const known = ends.get(world);
      if (known?.schemaVersion === schemaVersion && after >= known.from && after < known.to) return known;
      const under = reading.get(world);
      if (!under) {
        const next = follow(place, after).finally(() => reading.delete(world));
        reading.set(world, next);
        return await next;
      }
      // Somebody reads already: what comes of that may be enough.
      await under.catch(() => {});
    }
  }

  return {
    async read(place, after, most) {
      if (place.head - after > KEPT) return await fetch(place, after, Math.min(place.head, after + most));
      const { to, events } = await endOf(place, after);
      return { to, events: events.slice(firstAfter(events, after)) };
    },
  };
}

export function encoded({ syncId, model, text }: EventText): WebhookEvent {
  const json = Buffer.from(text);
  return { syncId, model, json, bytes: json.length };
}

/** The body of a delivery. */
export const bodyOf = (events: readonly WebhookEvent[]): Buffer =>
  Buffer.concat([BEFORE, ...events.flatMap(({ json }, i) => (i === 0 ? [json] : [COMMA, json])), BEHIND]);

const [BEFORE, COMMA, BEHIND] = ['{"data":[', ",", "]}"].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];

function trimmed(end: End): End {
  let bytes = 0;
  let first = end.events.length;
  while (first > 0 && bytes < KEPT_BYTES) bytes += (end.events[--first] as WebhookEvent).bytes;
  const from = Math.max(end.from, end.to - 2 * KEPT, first > 0 ? (end.events[first - 1] as WebhookEvent).syncId : 0);
  return from === end.from ? end : { ...end, from, events: end.events.slice(firstAfter(end.events, from)) };
}

/** Index of the first event beyond a position. */
function firstAfter(events: readonly WebhookEvent[], position: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle] as WebhookEvent).syncId <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}
