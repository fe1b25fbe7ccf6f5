import { Button } from "./fields.tsx";
import { useAttention, useSyncStatus } from "./sync.ts";

const words = {
  starting: "Reading",
  connecting: "Connecting",
  online: "Online",
  offline: "Offline",
  paused: "Paused",
  "needs-auth": "Please sign in again",
  "storage-failed": "This device cannot keep changes",
};

export function SyncLine() {
  const { name, pending } = useSyncStatus(({ name, pending }) => ({ name, pending }));
  return <span role="status">{`${words[name]}, ${pending === 0 ? "all is saved" : `${pending} to send`}`}</span>;
}

/** Writes that the server has refused, for example in a project that this person has left meanwhile. */
export function Refused() {
  return useAttention().map((item) => (
    <div role="alert" key={item.clientTxId}>
      Not saved: {item.error.message}
      <Button onClick={() => item.retry()}>Try again</Button>
      <Button onClick={() => item.discard()}>Forget it</Button>
    </div>
  ));
}
