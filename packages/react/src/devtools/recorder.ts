import type { ErasedRecord, ModelSchema, SyncClient } from "@holdfast/sdk";
import { sentencesBetween } from "./sentences.ts";
import { type View, viewOf, withoutErased } from "./view.ts";

export interface RecordedEvent {
  /** Increments from 1. Only the last 200 events are kept. */
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly says: string;
  /** The client's state right after the event. */
  readonly view: View;
}

export const EVENTS_KEPT = 200;

export interface Recorder {
  /** Starts recording. Returns a function that stops it. */
  start(): () => void;
  /** Oldest first. Returns the same array until a new event. */
  events(): readonly RecordedEvent[];
  subscribe(listener: () => void): () => void;
}

/** Records the events of a client, using only its public API. */
export function createRecorder<S extends ModelSchema>(client: SyncClient<S>, now: () => number = Date.now): Recorder {
  const listeners = new Set<() => void>();
  let events: readonly RecordedEvent[] = [];
  let last: View | undefined;
  let count = 0;

  function look(): void {
    const view = viewOf(client);
    const says = last ? sentencesBetween(last, view) : ["The recording starts."];
    last = view;
    if (says.length === 0) return;
    const at = now();
    const fresh = says.map((each) => {
      count += 1;
      return { number: count, at, says: each, view };
    });
    events = [...events, ...fresh].slice(-EVENTS_KEPT);
    for (const listener of [...listeners]) listener();
  }

  /** Drops the values that the events have of the record. */
  function forget(erased: ErasedRecord): void {
    events = events.map((event) => ({ ...event, view: withoutErased(event.view, erased) }));
    if (last) last = withoutErased(last, erased);
    for (const listener of [...listeners]) listener();
  }

  return {
    start() {
      look();
      const offs = [client.subscribe(look), client.onErased(forget)];
      return () => {
        for (const off of offs) off();
      };
    },
    events: () => events,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
