import type { SyncStatus } from "@holdfast/sdk";
import { useClient, useSyncStatus } from "../hooks.ts";

/** Says whether the changes are saved, and where they are if not. Yours to change. */
export function OfflineBanner() {
  const client = useClient();
  const { name, pending } = useSyncStatus(({ name, pending }) => ({ name, pending }));
  const isPaused = name === "paused";
  return (
    <div className={name === "online" ? "banner" : "banner banner-away"}>
      {/* It is always there: a screen reader announces changes of a region, not new regions. */}
      <p role="status">{sentenceOf(name, pending)}</p>
      <button type="button" onClick={() => (isPaused ? client.resume() : client.pause())}>
        {isPaused ? "Go online" : "Go offline"}
      </button>
    </div>
  );
}

function sentenceOf(name: SyncStatus["name"], pending: number): string {
  const changes = pending === 1 ? "1 change" : `${pending} changes`;
  const kept = pending === 0 ? "Your changes are kept on this device." : `${changes} kept on this device.`;
  switch (name) {
    case "starting":
    case "connecting":
      return pending === 0 ? "Connecting …" : `Connecting … ${kept}`;
    case "online":
      return pending === 0 ? "Online. All changes are saved." : `Online. ${changes} on the way.`;
    case "offline":
      return `No network. ${kept}`;
    case "paused":
      return `You are offline. ${kept}`;
    case "needs-auth":
      return `Please sign in again. ${kept}`;
    case "storage-failed":
      return pending === 0
        ? "This browser cannot store changes: stay online while you edit."
        : `This browser cannot store changes: keep this window open until ${changes} are sent.`;
  }
}
