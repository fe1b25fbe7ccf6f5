import { useCallback, useEffect, useState } from "react";
import { useClient } from "./sync.ts";

/** Where the switch is remembered: one place per person, so that all of a person's windows agree. */
const offlineKey = (person: string) => `holdfast-demo:offline:${person}`;

export const isOfflineWanted = (person: string) => localStorage.getItem(offlineKey(person)) === "yes";

/** Takes this person off the network and back, as a train ride would. A reload finds it as it was (see main.tsx). */
export function NetworkSwitch({ person }: { person: string }) {
  const client = useClient();
  const [isOffline, setOffline] = useState(() => isOfflineWanted(person));

  const apply = useCallback(
    (offline: boolean) => {
      if (offline) client.pause();
      else client.resume();
      setOffline(offline);
    },
    [client],
  );

  useEffect(() => {
    // The person's other windows share the queue: one that stayed online would send what this one holds back.
    const follow = (event: StorageEvent) => {
      if (event.key === offlineKey(person)) apply(event.newValue === "yes");
    };
    addEventListener("storage", follow);
    return () => removeEventListener("storage", follow);
  }, [person, apply]);

  const toggle = () => {
    if (isOffline) localStorage.removeItem(offlineKey(person));
    else localStorage.setItem(offlineKey(person), "yes");
    apply(!isOffline);
  };

  return (
    <button type="button" role="switch" aria-checked={isOffline} className="switch" onClick={toggle}>
      <span className="switch-track" aria-hidden="true" />
      Work offline
    </button>
  );
}
