import type { AttentionItem, PendingMutation } from "@holdfast/sdk";
import { useId } from "react";
import { useAttention, usePending, useRecord, useSyncStatus } from "../hooks.ts";

/** The changes that the server does not have yet, and those that it has refused. Yours to change. */
export function PendingList() {
  const isOnline = useSyncStatus(({ name }) => name === "online");
  const pending = usePending();
  const refused = useAttention();
  // Online, most changes wait for a moment only: a list of them would flicker.
  const waiting = isOnline ? pending.filter(({ phase }) => phase === "blocked") : pending;
  const [waitingHeading, refusedHeading] = [useId(), useId()];
  return (
    <>
      {waiting.length > 0 && (
        <section aria-labelledby={waitingHeading} className="card">
          <h2 id={waitingHeading}>Waiting to be sent</h2>
          <ul>
            {waiting.map(({ clientTxId, operations }) => (
              <li key={clientTxId}>
                <Operations operations={operations} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {refused.length > 0 && (
        <section aria-labelledby={refusedHeading} className="card card-warning">
          <h2 id={refusedHeading}>Not saved</h2>
          <ul>
            {refused.map((item) => (
              <Refused key={item.clientTxId} item={item} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Refused({ item }: { item: AttentionItem }) {
  return (
    <li>
      <Operations operations={item.operations} />
      <p>{item.error.message}</p>
      <button type="button" onClick={() => item.retry()}>
        Try again
      </button>
      <button type="button" onClick={() => item.discard()}>
        Discard my change
      </button>
    </li>
  );
}

const Operations = ({ operations }: Pick<PendingMutation, "operations">) =>
  operations.map((operation) => <Operation key={`${operation.action} ${operation.id}`} operation={operation} />);

function Operation({ operation: { action, id, data = {} } }: { operation: PendingMutation["operations"][number] }) {
  const title = useRecord("task", id, (task) => task.title);
  const named = String(data.title ?? title ?? "a task");
  if (action !== "update") return <span>{`${action === "create" ? "Add" : "Delete"} “${named}”`}</span>;
  const changes = Object.entries(data).map(([field, value]) => `${field}: ${String(value)}`);
  return <span>{`Change “${title ?? "a task"}” – ${changes.join(", ")}`}</span>;
}
