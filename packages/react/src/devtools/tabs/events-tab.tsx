import { type ChangeEvent, type ReactElement, useState, useSyncExternalStore } from "react";
import { download } from "../download.ts";
import type { RecordedEvent, Recorder } from "../recorder.ts";
import { type Recording, readRecording, recordingOf } from "../recording.ts";
import { Replay } from "../replay.tsx";
import { clock } from "./status-tab.tsx";

export function EventsTab({ recorder }: { recorder: Recorder }): ReactElement {
  const events = useSyncExternalStore(recorder.subscribe, recorder.events, recorder.events);
  const [recording, setRecording] = useState<Recording>();
  const [error, setError] = useState("");

  const open = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const chosen = target.files?.[0];
    if (!chosen) return;
    const read = readRecording(await chosen.text());
    // Allows choosing the same file again.
    target.value = "";
    setError(typeof read === "string" ? read : "");
    if (typeof read !== "string") setRecording(read);
  };

  if (recording) return <Replay recording={recording} close={() => setRecording(undefined)} />;
  return (
    <>
      <div className="hd-row">
        <button type="button" onClick={() => download("holdfast-events.json", recordingOf(events))}>
          Export events
        </button>
        <button type="button" onClick={() => setRecording(recordingOf(events))}>
          Step through these
        </button>
        <label className="hd-file">
          Step through a file
          <input type="file" accept="application/json,.json" onChange={(event) => void open(event)} />
        </label>
      </div>
      {error && (
        <p role="alert" className="hd-error">
          {error}
        </p>
      )}
      <ol aria-label="Events, newest first">
        {[...events].reverse().map((event) => (
          <EventLine key={event.number} event={event} />
        ))}
      </ol>
    </>
  );
}

export function EventLine({ event, isCurrent = false }: { event: RecordedEvent; isCurrent?: boolean }): ReactElement {
  return (
    <li aria-current={isCurrent ? "step" : undefined}>
      <time dateTime={new Date(event.at).toISOString()}>{clock(event.at)}</time>
      {event.says}
    </li>
  );
}
