import type { WebhookEvent } from "../protocol/webhooks/webhook-event.ts";
import { isTestEvent } from "./event.ts";
import type { PositionStore } from "./position-store.ts";

export interface Application {
  readonly store: PositionStore;
  /** The log of the events' positions. */
  readonly logId: string;
  apply(event: WebhookEvent): unknown;
  /** Whether the time limit has passed. */
  isOver(): boolean;
}

export type ApplyOutcome = { readonly applied: number; readonly known: number } & (
  | { readonly name: "done" }
  /** The time limit passed before this event. */
  | { readonly name: "cut"; readonly next: number }
  /** This event, or the store, failed. */
  | { readonly name: "failed"; readonly at: number | undefined; readonly error: unknown }
);

/** Applies the events that the store does not know yet, one after the other in log order, and updates the store. */
export async function applyEvents(
  events: readonly WebhookEvent[],
  { store, logId, apply, isOver }: Application,
): Promise<ApplyOutcome> {
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
      // Always apply at least one event, so that a slow delivery still makes progress.
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
 * The position up to which the events of this log were applied. Databases may return large numbers as strings. Any
 * other value must not count as the beginning of the log.
 */
async function positionIn(store: PositionStore, logId: string): Promise<number> {
  const known = (await store.read()) ?? 0;
  const isPlace = typeof known === "object";
  // The stored position belongs to another log, so all events of this log are new.
  if (isPlace && known.logId !== logId) return 0;
  const position = Number(isPlace ? known.syncId : known);
  if (!Number.isSafeInteger(position)) throw new TypeError("The store's read() must return a position.");
  return position;
}
