import { useCallback, useEffect, useState } from "react";
import { useClient } from "../sync.ts";
import { LINES, type Line, lineKey, lineOf, rememberedLine } from "./line.ts";
import { setLine } from "./rough-line.ts";

/** What each does, for people who point at it or use a screen reader. */
const says: Readonly<Record<Line, string>> = {
  online: "The network as it is",
  slow: "A second each way",
  lossy: "Two of three requests are lost, or their answers",
  offline: "No network, as in a tunnel",
};

/** Makes this person's network worse and better again, as a train ride would. */
export function NetworkSwitch({ person }: { person: string }) {
  const client = useClient();
  const [line, setShown] = useState(() => rememberedLine(person));

  const apply = useCallback(
    (next: Line) => {
      setLine(next);
      if (next === "offline") client.pause();
      else client.resume();
      setShown(next);
    },
    [client],
  );

  useEffect(() => {
    // The person's other windows share the queue: one that stayed online would send what this one holds back.
    const follow = (event: StorageEvent) => {
      if (event.key === lineKey(person)) apply(lineOf(event.newValue));
    };
    addEventListener("storage", follow);
    return () => removeEventListener("storage", follow);
  }, [person, apply]);

  const choose = (next: Line) => {
    localStorage.setItem(lineKey(person), next);
    apply(next);
  };

  return (
    <fieldset className="lines">
      <legend className="unseen">Network</legend>
      {LINES.map((one) => (
        <label key={one} title={says[one]} data-line={one}>
          <input type="radio" name="line" value={one} checked={one === line} onChange={() => choose(one)} />
          {one}
          <span className="unseen">: {says[one]}</span>
        </label>
      ))}
    </fieldset>
  );
}
