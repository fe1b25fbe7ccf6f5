import { type ReactElement, useId, useState } from "react";
import { Diff } from "./diff.tsx";
import type { Recording } from "./recording.ts";
import { describeWrite } from "./sentences.ts";
import { WriteList } from "./tabs/queue-tab.tsx";
import { clock, StatusList } from "./tabs/status-tab.tsx";

/** Shows the client's state event by event. It does not affect the running client. */
export function Replay({ recording: { events }, close }: { recording: Recording; close: () => void }): ReactElement {
  const [at, setAt] = useState(0);
  const slider = useId();
  const event = events[at];
  return (
    <>
      <div className="hd-row">
        <button type="button" disabled={at === 0} onClick={() => setAt(at - 1)}>
          Back
        </button>
        <button type="button" disabled={at >= events.length - 1} onClick={() => setAt(at + 1)}>
          Forward
        </button>
        <label htmlFor={slider}>
          Event {at + 1} of {events.length}
        </label>
        <input
          id={slider}
          type="range"
          min={0}
          max={events.length - 1}
          value={at}
          onChange={({ target }) => setAt(Number(target.value))}
        />
        <button type="button" onClick={close}>
          Back to now
        </button>
      </div>
      {event && (
        <>
          <p role="status">
            <time dateTime={new Date(event.at).toISOString()}>{clock(event.at)}</time>
            {event.says}
          </p>
          <StatusList status={event.view.status} />
          <WriteList pending={event.view.pending} />
          <ul>
            {event.view.conflicts.map(({ clientTxId, model, id, mine, base, theirs }) => (
              <li key={`${clientTxId} ${model} ${id}`}>
                <h3>
                  Conflict about {model} {id}
                </h3>
                <Diff caption={`The conflict about ${model} ${id}`} mine={mine} base={base} theirs={theirs} />
              </li>
            ))}
            {event.view.attention.map((item) => (
              <li key={item.clientTxId}>
                <h3>{describeWrite(item)} was refused</h3>
                <p className="hd-error">
                  {item.code}: {item.message}
                </p>
                {item.operations.map(({ model, id, data }, place) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the operations of a write never change places.
                  <Diff key={place} caption={`What was refused for ${model} ${id}`} mine={data} base={undefined} />
                ))}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
