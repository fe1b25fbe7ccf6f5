import { useCallback, useEffect, useState } from "react";
import { useClient } from "../sync.ts";
import {
  NETWORK_MODES,
  type NetworkMode,
  networkModeKey,
  networkModeOf,
  rememberedNetworkMode,
} from "./network-mode.ts";
import { setNetworkMode } from "./simulated-network.ts";

/** What each mode does: its tooltip, and its text for screen readers. */
const says: Readonly<Record<NetworkMode, string>> = {
  online: "The network as it is",
  slow: "A second each way",
  lossy: "Two of three requests are lost, or their answers",
  offline: "No network, as in a tunnel",
};

/** Makes this person's network worse and better again, as a train ride would. */
export function NetworkSwitch({ person }: { person: string }) {
  const client = useClient();
  const [mode, setShown] = useState(() => rememberedNetworkMode(person));

  const apply = useCallback(
    (next: NetworkMode) => {
      setNetworkMode(next);
      if (next === "offline") client.pause();
      else client.resume();
      setShown(next);
    },
    [client],
  );

  useEffect(() => {
    // The person's other windows share the queue: one that stayed online would send what this one holds back.
    const follow = (event: StorageEvent) => {
      if (event.key === networkModeKey(person)) apply(networkModeOf(event.newValue));
    };
    addEventListener("storage", follow);
    return () => removeEventListener("storage", follow);
  }, [person, apply]);

  const choose = (next: NetworkMode) => {
    localStorage.setItem(networkModeKey(person), next);
    apply(next);
  };

  return (
    <fieldset className="lines">
      <legend className="unseen">Network</legend>
      {NETWORK_MODES.map((one) => (
        <label key={one} title={says[one]} data-line={one}>
          <input type="radio" name="line" value={one} checked={one === mode} onChange={() => choose(one)} />
          {one}
          <span className="unseen">: {says[one]}</span>
        </label>
      ))}
    </fieldset>
  );
}
