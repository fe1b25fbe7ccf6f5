import type { AttentionItem } from "@holdfast/sdk";
import { valueWords } from "../conflicts/conflict-words.ts";
import { useAttention, useRecord } from "../sync.ts";
import { refusalWords } from "./refusal-words.ts";

/** Writes that the server refused. Each waits here until a person retries, edits or discards it. */
export function AttentionList() {
  const items = useAttention();
  if (items.length === 0) return null;
  return (
    <section className="panel urgent" aria-labelledby="attention-heading">
      <h2 id="attention-heading">Needs attention</h2>
      <ul>
        {items.map((item) => (
          <Refused key={item.clientTxId} item={item} />
        ))}
      </ul>
    </section>
  );
}

const verbs = {
  create: "add",
  update: "change",
  delete: "delete",
  archive: "put away",
  unarchive: "bring back",
} as const;

function Refused({ item }: { item: AttentionItem }) {
  const first = item.operations[0];
  const titleNow = useRecord("slide", first?.id ?? "skip", (slide) => slide.title);
  const title = valueWords(first?.data?.title ?? titleNow).trim();
  const what = first ? `Could not ${verbs[first.action]} ${title ? `“${title}”` : "a slide"}.` : "";
  return (
    <li>
      <p>
        {what} {refusalWords(item.error)}
      </p>
      <p className="choices">
        <button type="button" onClick={() => item.retry()}>
          Try again
        </button>
        <button type="button" onClick={() => item.discard()}>
          Discard
        </button>
      </p>
    </li>
  );
}
