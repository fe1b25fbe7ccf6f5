import type { PendingMutation } from "@holdfast/sdk";
import { type ReactElement, useState } from "react";
import { useClient } from "../../hooks/use-client.ts";
import { usePending } from "../../hooks/use-pending.ts";
import { type Bases, useBases } from "../bases.ts";
import { Diff } from "../diff.tsx";
import { download } from "../download.ts";
import { describeWrite } from "../sentences.ts";
import { SEEN_AT_MOST } from "../view.ts";
import { clock } from "./status-tab.tsx";

export function QueueTab(): ReactElement {
  const client = useClient();
  const pending = usePending();
  const bases = useBases(pending);
  const [error, setError] = useState("");
  const save = async () => {
    try {
      const exported = await client.exportPending();
      download(`holdfast-pending-${exported.clientId}.json`, exported);
    } catch (reason) {
      setError(String(reason));
    }
  };
  return (
    <>
      <div className="hd-row">
        <button type="button" onClick={() => void save()}>
          Export all that waits
        </button>
        {error && (
          <span role="alert" className="hd-error">
            {error}
          </span>
        )}
      </div>
      <WriteList pending={pending} bases={bases} />
    </>
  );
}

export function WriteList(props: { pending: readonly PendingMutation[]; bases?: Bases }): ReactElement {
  const { pending, bases } = props;
  if (pending.length === 0) return <p>Nothing waits to be sent.</p>;
  return (
    <>
      <ol>
        {pending.slice(0, SEEN_AT_MOST).map((write) => (
          <li key={write.clientTxId}>
            <h3>{describeWrite(write)}</h3>
            <p>
              {write.phase}, written at {clock(write.createdAt)}
              {write.attempts > 0 && `, sent ${write.attempts} times`}
            </p>
            {write.operations.map(({ model, id, data }, at) => (
              <Diff
                // biome-ignore lint/suspicious/noArrayIndexKey: the operations of a write never change places.
                key={at}
                caption={`What the write changes in ${model} ${id}`}
                mine={data}
                base={bases?.get(write.clientTxId)?.[at]}
              />
            ))}
          </li>
        ))}
      </ol>
      {pending.length > SEEN_AT_MOST && <p>{pending.length - SEEN_AT_MOST} more are not shown.</p>}
    </>
  );
}
