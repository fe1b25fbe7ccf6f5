import type { ModelSchema, SyncClient } from "@holdfast/sdk";
import { sentencesBetween } from "./sentences.ts";
import { type View, viewOf } from "./view.ts";

export interface RecordedEvent {
  /** Counts up from 1; of the last 200 the older ones are gone. */
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly says: string;
  /** What the client said of itself right after. */
  readonly view: View;
}

export const EVENTS_KEPT = 200;

export interface Recorder {
  /** Listens to the client until the function that is given back is called. */
  start(): () => void;
  /** Oldest first; the same array until something happens. */
  events(): readonly RecordedEvent[];
  subscribe(listener: () => void): () => void;
}

/** Remembers what happens to a client, from its public answers alone. */
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

  return {
    start() {
      look();
      return client.subscribe(look);
    },
    events: () => events,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
