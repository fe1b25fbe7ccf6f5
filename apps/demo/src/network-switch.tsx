import { useEffect, useState } from "react";
import { useClient } from "./sync.ts";

/** Where the switch is remembered: one place per person, so that all of a person's windows agree. */
export const offlineKey = (person: string) => `holdfast-demo:offline:${person}`;

export const isOfflineWanted = (person: string) => localStorage.getItem(offlineKey(person)) === "yes";

/** Takes this person off the network and back, as a train ride would. It outlives a reload. */
export function NetworkSwitch({ person }: { person: string }) {
  const client = useClient();
  const [isOffline, setOffline] = useState(() => isOfflineWanted(person));

  useEffect(() => {
    if (isOffline) client.pause();
    else client.resume();
  }, [client, isOffline]);

  useEffect(() => {
    // The person's other windows share the queue: one that stayed online would send what this one holds back.
    const follow = (event: StorageEvent) => {
      if (event.key === offlineKey(person)) setOffline(event.newValue === "yes");
    };
    addEventListener("storage", follow);
    return () => removeEventListener("storage", follow);
  }, [person]);

  const toggle = () => {
    if (isOffline) localStorage.removeItem(offlineKey(person));
    else localStorage.setItem(offlineKey(person), "yes");
    setOffline(!isOffline);
  };

  return (
    <button type="button" role="switch" aria-checked={isOffline} className="switch" onClick={toggle}>
      <span className="switch-track" aria-hidden="true" />
      Work offline
    </button>
  );
}
