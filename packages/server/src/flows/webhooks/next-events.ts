import { webhookLimits } from "@holdfast/sdk/protocol";
import type { Endpoint } from "../../db/webhooks/webhook-endpoints.ts";
import { subscribes } from "../../rules/webhooks/subscription.ts";
import type { WebhookEvent, WebhookEvents } from "./webhook-events.ts";

/** What comes next for each endpoint: the log from its cursor on, but for what it is not told of. */
export interface NextEvents {
  /** At most so many events for it between its cursor and `end`, and how far was looked. */
  nextEvents(endpoint: Endpoint, end: number, most: number): Promise<{ found: readonly WebhookEvent[]; to: number }>;
  /** Nothing up to there is for it. True: that is kept in mind; false: it is time to write it down. */
  keepInMind(endpoint: Endpoint, to: number, now: number): boolean;
}

/** Positions that are looked through, at most, before what was found goes out. */
const LOOKED_THROUGH = 10_000;
/** A cursor that only passes by is written down that often. */
const QUIET_POSITIONS = 1_000;
const QUIET_MS = 1_000;
const MOST_QUIET = 10_000;

export function createNextEvents(events: WebhookEvents): NextEvents {
  /** Cursors that only pass by: until where, of which version of the row, since when. */
  const quiet = new Map<string, { readonly version: number; readonly to: number; readonly since: number }>();

  return {
    async nextEvents(endpoint, end, most) {
      const isTold = subscribes(endpoint.enabledEvents);
      const { delivery, version } = endpoint;
      const passed = quiet.get(endpointKey(endpoint));
      const start = passed?.version === version ? Math.max(passed.to, delivery.cursor) : delivery.cursor;
      const found: WebhookEvent[] = [];
      let [to, bytes] = [start, 0];
      while (to < end && found.length < most && bytes < webhookLimits.batchBytes && to - start < LOOKED_THROUGH) {
        const page = await events.read(endpoint, to);
        for (const event of page.events) {
          if (event.syncId > end || found.length >= most) break;
          if (!isTold(event.model)) continue;
          found.push(event);
          bytes += event.bytes;
        }
        to = Math.min(page.to, end);
      }
      return { found, to };
    },
    keepInMind(endpoint, to, now) {
      const { delivery, version, head } = endpoint;
      const key = endpointKey(endpoint);
      const before = quiet.get(key);
      const since = before?.version === version ? before.since : now;
      if (to === head && to - delivery.cursor < QUIET_POSITIONS && now - since < QUIET_MS) {
        // Of endpoints that are gone, too: forgotten, a cursor is only written down sooner.
        if (quiet.size >= MOST_QUIET) quiet.clear();
        quiet.set(key, { version, to, since });
        return true;
      }
      quiet.delete(key);
      return false;
    },
  };
}

export const endpointKey = ({ tenant, id }: Endpoint): string => `${tenant}/${id}`;
