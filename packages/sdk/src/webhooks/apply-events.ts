import type { WebhookEvent } from "../protocol/webhooks/webhook-event.ts";
import { isTestEvent } from "./event.ts";
import type { PositionStore } from "./position-store.ts";

export interface Application {
  readonly store: PositionStore;
  /** The log that the positions of the events count in. */
  readonly logId: string | undefined;
  apply(event: WebhookEvent): unknown;
  /** Whether there is no time left for another one. */
  isOver(): boolean;
}

export type Outcome = { readonly applied: number; readonly known: number } & (
  | { readonly name: "done" }
  /** Time was over before this event. */
  | { readonly name: "cut"; readonly next: number }
  /** This event, or the store, failed. */
  | { readonly name: "failed"; readonly at: number | undefined; readonly error: unknown }
);

/** Applies what the store does not know yet, in the order of the log, one after the other, and moves the store along. */
export async function applyEvents(
  events: readonly WebhookEvent[],
  { store, logId, apply, isOver }: Application,
): Promise<Outcome> {
  const inOrder = events.filter((event) => !isTestEvent(event)).sort((one, other) => one.syncId - other.syncId);
  let at: number | undefined;
  let applied = 0;
  let known = 0;
  try {
    let position = await positionIn(store, logId);
    for (const event of inOrder) {
      at = event.syncId;
      if (at <= position) {
        known += 1;
        continue;
      }
      // One at least, however little time there is: else a delivery might never get on.
      if (applied > 0 && isOver()) return { name: "cut", next: at, applied, known };
      await apply(event);
      await store.write(at, logId);
      position = at;
      applied += 1;
    }
    return { name: "done", applied, known };
  } catch (error) {
    return { name: "failed", at, error, applied, known };
  }
}

/**
 * Up to where the events of this log are known. Databases give large numbers as text; anything else that is no position must
 * not pass for the beginning.
 */
async function positionIn(store: PositionStore, logId: string | undefined): Promise<number> {
  const known = (await store.read()) ?? 0;
  const isPlace = typeof known === "object";
  // What was known of another log says nothing of this one: all that is told of it is new.
  if (isPlace && known.logId !== undefined && logId !== undefined && known.logId !== logId) return 0;
  const position = Number(isPlace ? known.syncId : known);
  if (!Number.isSafeInteger(position)) throw new TypeError("The store's read() must return a position.");
  return position;
}
