import type { Database } from "../../../kernel/connection/pool.ts";
import { readLog } from "../../../kernel/log/db/log.ts";
import { readSchema } from "../../../kernel/schema/db/model-schemas.ts";
import type { SchemaCache } from "../../../kernel/schema/flows/schema-cache.ts";
import type { SizedEvent } from "../rules/webhook-batch.ts";
import { type EventText, eventOf } from "../rules/webhook-event.ts";

/** A change in the form in which it is sent: serialized once for all endpoints. */
export interface WebhookEvent extends SizedEvent {
  /** In lower case. */
  readonly model: string;
  /** JSON in UTF-8. */
  readonly json: Buffer;
}

/** All events at the positions in (after, to]. */
export interface EventPage {
  readonly to: number;
  readonly events: readonly WebhookEvent[];
}

/**
 * The log as events, in pages that start at multiples of the page size. Endpoints of a tenant need the same events at
 * nearly the same time, whether they keep up or lag behind. So each page is read once for all of them, and the last
 * page is extended as the log grows.
 */
export interface WebhookEvents {
  /** The events after a position, up to the end of its page or of the log. */
  read(place: LogPosition, after: number): Promise<EventPage>;
  forget(): void;
}

/** A log that extends at least to `head`, and the schema version whose names the events use. */
export interface LogPosition {
  readonly tenant: number;
  readonly head: number;
  readonly schemaVersion: number;
  /** The position of the newest erasure: pages that were read before it must not be sent. */
  readonly erasedTo: number;
}

interface KeptPage extends EventPage {
  readonly bytes: number;
}

/** Positions per page. */
const PAGE = 128;
/** Bounds in stored bytes of all cached pages, and of one read: a row may have a MiB. */
const KEPT_BYTES = 32 * 1024 * 1024;
const READ_BYTES = 4 * 1024 * 1024;

export function webhookEvents(db: Database, schemas: SchemaCache): WebhookEvents {
  /** Ordered by last use. */
  const pages = new Map<string, KeptPage>();
  const reading = new Map<string, Promise<KeptPage>>();
  let keptBytes = 0;

  /** The entries in (after, to] as events. May stop early at the byte limit of one read. */
  async function fetch({ tenant, schemaVersion }: LogPosition, after: number, to: number): Promise<EventPage> {
    const { models } =
      schemas.get(tenant, schemaVersion) ?? schemas.put(tenant, await readSchema(db, tenant, schemaVersion));
    const entries = await readLog(db, tenant, { after, to, bytes: READ_BYTES });
    const last = entries.at(-1);
    // Retention never trims entries that an endpoint still needs.
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

  /** The page up to the head, extended from the cached part. */
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
        // Another call is reading this page, and its result may suffice.
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

/** The body of a delivery: the events, and the log that their positions refer to. */
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
