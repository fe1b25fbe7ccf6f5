import type { Conflict, JsonObject } from "@holdfast/sdk";
import { type SyntheticEvent, useId, useRef } from "react";
import { useConflicts } from "../hooks.ts";

/** Changes that met those of others: this person decides. Yours to change. */
export function ConflictCards() {
  const conflicts = useConflicts();
  const place = useRef<HTMLElement>(null);
  // The button that was pressed goes with its card. Without this, the keyboard would start again at the top of the page.
  const stay = () => place.current?.focus();
  return (
    // The name is for those who hear where the focus has gone.
    <section ref={place} tabIndex={-1} aria-live="polite" aria-label="Conflicts">
      {conflicts.map((conflict) => (
        <ConflictCard key={`${conflict.clientTxId} ${conflict.id}`} conflict={conflict} onDecide={stay} />
      ))}
    </section>
  );
}

/** One of them, with the three answers: mine, theirs, or a merge. */
export function ConflictCard({ conflict, onDecide }: { conflict: Conflict; onDecide: () => void }) {
  const heading = useId();
  const { action, base, mine, theirs } = conflict;
  const who = conflict.writtenBy.split(":").slice(1).join(":") || "Someone else";
  // A text can be merged by hand; of other values one is right.
  const texts = action === "update" ? conflict.fields.filter((field) => typeof mine[field] === "string") : [];
  const decide = (answer: () => unknown) => () => {
    answer();
    onDecide();
  };
  const merge = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    conflict.merge({ ...mine, ...Object.fromEntries(texts.map((field) => [field, String(form.get(field))])) });
    onDecide();
  };
  return (
    <section className="card card-warning" aria-labelledby={heading}>
      <h2 id={heading}>{titleOf(conflict, who)}</h2>
      <dl>
        {action === "update" && <Values name="It was" values={base} />}
        {action !== "delete" && <Values name="You" values={mine} />}
        {theirs && <Values name={who} values={theirs} />}
      </dl>
      <button type="button" onClick={decide(() => conflict.keepMine())}>
        {action === "delete" ? "Delete it anyway" : "Keep mine"}
      </button>
      <button type="button" onClick={decide(() => conflict.takeTheirs())}>
        {action === "delete" ? "Keep it" : theirs ? "Take theirs" : "Leave it deleted"}
      </button>
      {texts.length > 0 && theirs && (
        <form onSubmit={merge}>
          {texts.map((field) => (
            <label key={field}>
              Merged {field}
              <input name={field} defaultValue={`${mine[field]} / ${theirs[field] ?? ""}`} />
            </label>
          ))}
          <button type="submit">Save the merge</button>
        </form>
      )}
    </section>
  );
}

function titleOf({ action, fields, reason, theirs }: Conflict, who: string): string {
  if (action === "delete") return `You deleted a task that ${who} has changed.`;
  if (theirs === null) return `You changed a task that ${who} has deleted.`;
  if (reason !== "stale") return `${who} was editing this task when your change came.`;
  return `You and ${who} changed the ${fields.join(" and the ")}.`;
}

const Values = ({ name, values }: { name: string; values: JsonObject }) => (
  <div>
    <dt>{name}</dt>
    {Object.entries(values).map(([field, value]) => (
      <dd key={field}>{typeof value === "string" ? value : `${field}: ${String(value)}`}</dd>
    ))}
  </div>
);
