import { webhookLimits } from "@holdfast/sdk/protocol";
import type { Endpoint } from "../db/webhook-endpoints.ts";
import { subscribes } from "../rules/subscription.ts";
import type { WebhookEvent, WebhookEvents } from "./webhook-events.ts";

/** The next events for each endpoint: log entries after its cursor that it is subscribed to. */
export interface NextEvents {
  /** Finds up to `most` events between the cursor and `end`. `to` is how far the log was read. */
  nextEvents(endpoint: Endpoint, end: number, most: number): Promise<{ found: readonly WebhookEvent[]; to: number }>;
  /**
   * No event up to `to` is for this endpoint. Returns true if that is only remembered, false if the cursor should be
   * saved now.
   */
  keepInMind(endpoint: Endpoint, to: number, now: number): boolean;
}

/** Most positions to search before the events found so far are sent. */
const LOOKED_THROUGH = 10_000;
/** How often a cursor is saved that only moves past other events. */
const QUIET_POSITIONS = 1_000;
const QUIET_MS = 1_000;
const MOST_QUIET = 10_000;

export function createNextEvents(events: WebhookEvents): NextEvents {
  /** Cursors that have only moved past other events: the position, the row's version, and since when. */
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
        // Some entries may belong to removed endpoints. Clearing all only means that some cursors are saved earlier.
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
