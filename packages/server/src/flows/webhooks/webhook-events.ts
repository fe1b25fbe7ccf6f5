import type { Database } from "../../db/connection/pool.ts";
import { readLog } from "../../db/log/log.ts";
import { readSchema } from "../../db/schema/model-schemas.ts";
import type { SizedEvent } from "../../rules/webhooks/webhook-batch.ts";
import { type EventText, eventOf } from "../../rules/webhooks/webhook-event.ts";
import type { SchemaCache } from "../schema/schema-cache.ts";

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
 * The log as events, in pages that begin at round positions. What one endpoint is told others are told at nearly the same
 * time, those that keep up and those that lag alike: a page is read once for all of them, and its end read on as the log grows.
 */
export interface WebhookEvents {
  /** What comes after a position, up to the end of its page or of the log. */
  read(place: LogPosition, after: number): Promise<EventPage>;
  forget(): void;
}

/** A log that reaches to `head` at least, and the schema whose words it is told in. */
export interface LogPosition {
  readonly tenant: number;
  readonly head: number;
  readonly schemaVersion: number;
  /** Where the newest erasure stands: pages that were read before it are not told. */
  readonly erasedTo: number;
}

interface KeptPage extends EventPage {
  readonly bytes: number;
}

/** Positions of a page. */
const PAGE = 128;
/** Of all pages together, and what is read at once, as stored: rows may have a MiB each. */
const KEPT_BYTES = 32 * 1024 * 1024;
const READ_BYTES = 4 * 1024 * 1024;

export function webhookEvents(db: Database, schemas: SchemaCache): WebhookEvents {
  /** The one that was asked for last is the last. */
  const pages = new Map<string, KeptPage>();
  const reading = new Map<string, Promise<KeptPage>>();
  let keptBytes = 0;

  /** Entries in (after, to] as events: all of them, or as many as may be read at once. */
  async function fetch({ tenant, schemaVersion }: LogPosition, after: number, to: number): Promise<EventPage> {
    const { models } =
      schemas.get(tenant, schemaVersion) ?? schemas.put(tenant, await readSchema(db, tenant, schemaVersion));
    const entries = await readLog(db, tenant, { after, to, bytes: READ_BYTES });
    const last = entries.at(-1);
    // A log is not trimmed beyond what somebody is still to be told.
    if (!last) throw new Error(`Tenant ${tenant} has no log entries in (${after}, ${to}], which a webhook must send.`);
    const events = entries.flatMap((entry) => {
      const event = eventOf(entry, models.get(entry.model));
      return event ? [encoded(event)] : [];
    });
    return { to: last.syncId, events };
  }

  function keep(key: string, page: KeptPage): void {
    keptBytes += page.bytes - (pages.get(key)?.bytes ?? 0);
    pages.delete(key);
    pages.set(key, page);
    for (const [oldest, { bytes }] of pages) {
      if (keptBytes <= KEPT_BYTES || oldest === key) break;
      keptBytes -= bytes;
      pages.delete(oldest);
    }
  }

  /** A page as far as the head, read on from where it was. */
  async function readOn(place: LogPosition, key: string, start: number): Promise<KeptPage> {
    const known = pages.get(key);
    const more = await fetch(place, known?.to ?? start, Math.min(place.head, start + PAGE));
    const bytes = more.events.reduce((sum, event) => sum + event.bytes, known?.bytes ?? 0);
    const page = { to: more.to, events: [...(known?.events ?? []), ...more.events], bytes };
    keep(key, page);
    return page;
  }

  return {
    forget() {
      pages.clear();
      keptBytes = 0;
    },
    async read(place, after) {
      const start = Math.floor(after / PAGE) * PAGE;
      const key = `${place.tenant}/${place.schemaVersion}/${place.erasedTo}/${start}`;
      for (;;) {
        const known = pages.get(key);
        if (known && known.to > after) {
          keep(key, known);
          return { to: known.to, events: known.events.slice(firstAfter(known.events, after)) };
        }
        // Somebody reads already: what comes of that may be enough.
        const under = reading.get(key);
        if (under) await under.catch(() => {});
        else {
          const next = readOn(place, key, start).finally(() => reading.delete(key));
          reading.set(key, next);
          const { to, events } = await next;
          if (to > after) return { to, events: events.slice(firstAfter(events, after)) };
        }
      }
    },
  };
}

export function encoded({ syncId, model, text }: EventText): WebhookEvent {
  const json = Buffer.from(text);
  return { syncId, model, json, bytes: json.length };
}

/** The body of a delivery: events, and the log that their positions count in. */
export const bodyOf = (events: readonly WebhookEvent[], logId: string): Buffer =>
  Buffer.concat([
    BEFORE,
    ...events.flatMap(({ json }, i) => (i === 0 ? [json] : [COMMA, json])),
    Buffer.from(`],"logId":${JSON.stringify(logId)}}`),
  ]);

const [BEFORE, COMMA] = [Buffer.from('{"data":['), Buffer.from(",")];

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
