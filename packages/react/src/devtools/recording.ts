import type { RecordedEvent } from "./recorder.ts";

/** An exported list of events, for a report or a replay elsewhere. */
export interface Recording {
  readonly object: "holdfast_events";
  readonly version: 1;
  readonly events: readonly RecordedEvent[];
}

export const recordingOf = (events: readonly RecordedEvent[]): Recording => ({
  object: "holdfast_events",
  version: 1,
  events,
});

/** Parses an export. Returns an error sentence if it is something else. */
export function readRecording(text: string): Recording | string {
  const recording = parsed(text) as Partial<Recording> | undefined;
  if (recording?.object !== "holdfast_events" || recording.version !== 1 || !Array.isArray(recording.events))
    return "This file is not a list of events that these devtools exported.";
  if (recording.events.length === 0) return "This file has no events.";
  return recording.events.every(isEvent) ? (recording as Recording) : "An event in this file is malformed.";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isEvent(event: unknown): event is RecordedEvent {
  const { number, at, says, view } = (event ?? {}) as Partial<RecordedEvent>;
  return (
    typeof number === "number" &&
    typeof at === "number" &&
    typeof says === "string" &&
    typeof view?.status === "object" &&
    view.status !== null &&
    Array.isArray(view.pending) &&
    Array.isArray(view.conflicts) &&
    Array.isArray(view.attention) &&
    [...view.pending, ...view.attention].every((each) => Array.isArray(each?.operations)) &&
    view.conflicts.every((each) => Array.isArray(each?.fields))
  );
}
