import type { Conflict } from "@holdfast/sdk";
import { Button } from "./fields.tsx";
import { useAttention, useConflicts, useSyncStatus } from "./sync.ts";

const names = { starting: "Reading", connecting: "Connecting", online: "Online", offline: "Offline", paused: "Paused" };
const troubles = { "needs-auth": "Please sign in again", "storage-failed": "This device cannot keep changes" };

export function SyncLine() {
  const { name, pending } = useSyncStatus(({ name, pending }) => ({ name, pending }));
  const state = { ...names, ...troubles }[name];
  return <span role="status">{`${state}, ${pending === 0 ? "all is saved" : `${pending} to send`}`}</span>;
}

/** Changes that met another person's, of any record: this person decides which stays. */
export function Conflicts() {
  return useConflicts().map((conflict) => (
    <div role="alert" key={`${conflict.clientTxId} ${conflict.id}`}>
      <p>{sentencesOf(conflict)}</p>
      <Button onClick={() => conflict.keepMine()}>Keep mine</Button>
      <Button onClick={() => conflict.takeTheirs()}>Take theirs</Button>
    </div>
  ));
}

const sentencesOf = ({ action, fields, mine, model, theirs, writtenBy }: Conflict) =>
  action === "update" && theirs
    ? fields.map((one) => `You and ${writtenBy} changed the ${one}: you to “${mine[one]}”, they to “${theirs[one]}”. `)
    : `You and ${writtenBy} changed the same ${model}, and one of you deleted it.`;

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
