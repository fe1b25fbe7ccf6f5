import type { AttentionItem, Conflict, JsonObject } from "@holdfast/sdk";
import { type ReactElement, useState } from "react";
import { useAttention } from "../../hooks/use-attention.ts";
import { useConflicts } from "../../hooks/use-conflicts.ts";
import { type Bases, useBases } from "../bases.ts";
import { Diff } from "../diff.tsx";
import { download } from "../download.ts";
import { JsonEditor } from "../json-editor.tsx";
import { describeWrite } from "../sentences.ts";

export function AttentionTab(): ReactElement {
  const conflicts = useConflicts();
  const attention = useAttention();
  const bases = useBases(attention);
  if (conflicts.length + attention.length === 0) return <p>Nothing waits for a decision.</p>;
  return (
    <ol>
      {conflicts.map((conflict) => (
        <ConflictItem key={`${conflict.clientTxId} ${conflict.model} ${conflict.id}`} conflict={conflict} />
      ))}
      {attention.map((item) => (
        <RefusedItem key={item.clientTxId} item={item} bases={bases.get(item.clientTxId)} />
      ))}
    </ol>
  );
}

function ConflictItem({ conflict }: { conflict: Conflict }): ReactElement {
  const [isEditing, setEditing] = useState(false);
  const { clientTxId, model, id, action, reason, writtenBy, fields, mine, base, theirs } = conflict;
  const exported = { clientTxId, model, id, action, reason, writtenBy, fields, mine, base, theirs };
  return (
    <li>
      <h3>
        {action} {model} {id}: {reason}
      </h3>
      <p>{writtenBy ? `Conflicts with ${writtenBy}.` : "The write's claim had ended."}</p>
      <Diff caption={`The conflict about ${model} ${id}`} mine={mine} base={base} theirs={theirs} />
      <div className="hd-row">
        <button type="button" onClick={() => quiet(conflict.keepMine())}>
          Keep mine
        </button>
        <button type="button" onClick={() => conflict.takeTheirs()}>
          Take theirs
        </button>
        <button type="button" aria-expanded={isEditing} onClick={() => setEditing(!isEditing)}>
          Merge
        </button>
        <button type="button" onClick={() => download(`holdfast-conflict-${clientTxId}.json`, exported)}>
          Export
        </button>
      </div>
      {isEditing && (
        <JsonEditor
          label="The merged fields, as JSON"
          value={mine}
          action="Send this instead"
          send={(patch) => quiet(conflict.merge(patch as JsonObject))}
        />
      )}
    </li>
  );
}

function RefusedItem({ item, bases }: { item: AttentionItem; bases: ReturnType<Bases["get"]> }): ReactElement {
  const [isEditing, setEditing] = useState(false);
  const [isSure, setSure] = useState(false);
  const { clientTxId, code, error, operations, createdAt } = item;
  const exported = { clientTxId, code, message: error.message, operations, createdAt };
  return (
    <li>
      <h3>{describeWrite(item)}</h3>
      <p className="hd-error">
        {code}: {error.message}
      </p>
      {operations.map(({ model, id, data }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the operations of a write never change places.
        <Diff key={at} caption={`What was refused for ${model} ${id}`} mine={data} base={bases?.[at]} />
      ))}
      <div className="hd-row">
        <button type="button" onClick={() => quiet(item.retry())}>
          Retry
        </button>
        <button type="button" aria-expanded={isEditing} onClick={() => setEditing(!isEditing)}>
          Edit
        </button>
        <button type="button" onClick={() => (isSure ? item.discard() : setSure(true))} onBlur={() => setSure(false)}>
          {isSure ? "Discard permanently" : "Discard"}
        </button>
        <button type="button" onClick={() => download(`holdfast-refused-${clientTxId}.json`, exported)}>
          Export
        </button>
      </div>
      {isEditing && (
        <JsonEditor
          label="The operations to send instead, as JSON"
          value={operations.map(asked)}
          action="Send these instead"
          send={(edited) => quiet(item.edit(edited as Parameters<typeof item.edit>[0]))}
        />
      )}
    </li>
  );
}

/** The fields that an app may set in an operation; the client stores more. */
const asked = ({ action, model, id, data }: AttentionItem["operations"][number]) => ({ action, model, id, data });

/** Ignores the outcome, because this panel shows it anyway. */
function quiet({ receipt }: { receipt: Promise<unknown> }): void {
  receipt.catch(() => {});
}
