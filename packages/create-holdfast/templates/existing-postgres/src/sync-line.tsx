import { useAttention, useConflicts, useSyncStatus } from "@holdfast/react";

/** Whether all is saved, and what waits for a decision: see the template "react" for cards that say more. */
export function SyncLine() {
  const { name, pending } = useSyncStatus(({ name, pending }) => ({ name, pending }));
  const conflicts = useConflicts();
  const refused = useAttention();
  return (
    <header>
      <h1>Live tables</h1>
      <p role="status">{`${name}, ${pending === 0 ? "all is saved" : `${pending} to send`}`}</p>
      {conflicts.map((conflict) => (
        <p role="alert" key={`${conflict.clientTxId} ${conflict.id}`}>
          {`${conflict.writtenBy || "Someone else"} changed ${conflict.fields.join(", ")} of ${conflict.id} too: you to ${textOf(conflict.mine)}, they to ${textOf(conflict.theirs)}. `}
          <button type="button" onClick={() => conflict.keepMine()}>
            Keep mine
          </button>{" "}
          <button type="button" onClick={() => conflict.takeTheirs()}>
            Take theirs
          </button>
        </p>
      ))}
      {refused.map((item) => (
        <p role="alert" key={item.clientTxId}>
          Your database refused a change: {item.error.message}{" "}
          <button type="button" onClick={() => item.retry()}>
            Try again
          </button>{" "}
          <button type="button" onClick={() => item.discard()}>
            Discard my change
          </button>
        </p>
      ))}
    </header>
  );
}

const textOf = (values: object | null): string => (values ? Object.values(values).map(String).join(", ") : "nothing");
