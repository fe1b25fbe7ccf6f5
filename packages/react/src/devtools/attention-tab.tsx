import type { AttentionItem, Conflict } from "@holdfast/sdk";
import { type ReactElement, useId, useState } from "react";
import { useAttention } from "../use-attention.ts";
import { useConflicts } from "../use-conflicts.ts";
import { type Bases, useBases } from "./bases.ts";
import { Diff } from "./diff.tsx";
import { download } from "./download.ts";
import { inWords } from "./sentences.ts";

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
  const { model, id, reason, writtenBy, mine, base, theirs } = conflict;
  return (
    <li>
      <h3>
        {conflict.action} {model} {id}: {reason}
      </h3>
      <p>{writtenBy ? `Against it stands ${writtenBy}.` : "The claim that it was written under had ended."}</p>
      <Diff caption={`The conflict about ${model} ${id}`} mine={mine} base={base} theirs={theirs} />
      <div className="hd-row">
        <button type="button" onClick={() => quiet(conflict.keepMine())}>
          Keep mine
        </button>
        <button type="button" onClick={() => conflict.takeTheirs()}>
          Take theirs
        </button>
      </div>
    </li>
  );
}

function RefusedItem({ item, bases }: { item: AttentionItem; bases: ReturnType<Bases["get"]> }): ReactElement {
  const [isEditing, setEditing] = useState(false);
  const [isSure, setSure] = useState(false);
  const { clientTxId, code, error, operations, createdAt } = item;
  const save = () =>
    download(`holdfast-refused-${clientTxId}.json`, {
      clientTxId,
      code,
      message: error.message,
      operations,
      createdAt,
    });
  return (
    <li>
      <h3>{inWords(item)}</h3>
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
          {isSure ? "Discard for good" : "Discard"}
        </button>
        <button type="button" onClick={save}>
          Export
        </button>
      </div>
      {isEditing && <Editor item={item} />}
    </li>
  );
}

function Editor({ item }: { item: AttentionItem }): ReactElement {
  const [text, setText] = useState(() => JSON.stringify(item.operations.map(asked), null, 2));
  const [error, setError] = useState("");
  const name = useId();
  const send = () => {
    try {
      quiet(item.edit(JSON.parse(text)));
    } catch (reason) {
      // Not JSON, or not what the schema takes: the text stays as it is.
      setError(reason instanceof Error ? reason.message : String(reason));
    }
  };
  return (
    <>
      <label htmlFor={name}>The operations to send instead, as JSON</label>
      <textarea id={name} value={text} spellCheck={false} onChange={(event) => setText(event.target.value)} />
      {error && (
        <p role="alert" className="hd-error">
          {error}
        </p>
      )}
      <button type="button" onClick={send}>
        Send these instead
      </button>
    </>
  );
}

/** What an app may say of an operation; the client keeps more beside it. */
const asked = ({ action, model, id, data }: AttentionItem["operations"][number]) => ({ action, model, id, data });

/** Whatever comes of the write shows up in this panel again. */
function quiet({ receipt }: { receipt: Promise<unknown> }): void {
  receipt.catch(() => {});
}
