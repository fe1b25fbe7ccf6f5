import type { Conflict } from "@holdfast/sdk";
import { useEffect, useId, useRef, useState } from "react";
import { changedWords } from "./changed-words.ts";
import { conflictSentence, fieldName, isDeletion, valueWords } from "./conflict-words.ts";
import { useWriterName } from "./people.ts";
import { useRecord } from "./sync.ts";

/** Mine, what it was before, and theirs, side by side; and the choice between them. */
export function ConflictDialog({ conflict, close }: { conflict: Conflict; close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const headingId = useId();
  const writer = useWriterName(conflict.writtenBy);
  const title = useRecord("slide", conflict.id, (slide) => slide.title?.trim()) || "a slide";
  const isTextOnly = conflict.theirs !== null && conflict.fields.every((field) => isText(conflict.mine[field]));
  const [merged, setMerged] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(conflict.fields.map((field) => [field, valueWords(conflict.mine[field])])),
  );

  useEffect(() => {
    // Open already when StrictMode runs this twice.
    if (!dialog.current?.open) dialog.current?.showModal();
    // Not the first field, as the browser would: on a phone its keyboard would hide what is to be read.
    heading.current?.focus();
  }, []);

  const decide = (decision: () => void) => () => {
    dialog.current?.close();
    decision();
    // The button that led here is gone with the conflict; the slide is what it was about.
    document.querySelector<HTMLElement>(`#slide-${CSS.escape(conflict.id)} article`)?.focus();
  };

  return (
    <dialog ref={dialog} className="conflict" aria-labelledby={headingId} onClose={close}>
      <h2 id={headingId} ref={heading} tabIndex={-1}>
        {conflictSentence(conflict, writer, title)}
      </h2>
      {!isDeletion(conflict) &&
        conflict.fields.map((field) => (
          <section key={field} className="versions" aria-label={fieldName(field)}>
            <Version name="Yours" field={field} value={conflict.mine[field]} base={conflict.base[field]} />
            <Version name="Before" field={field} value={conflict.base[field]} />
            {conflict.theirs && (
              <Version
                name={possessive(writer)}
                field={field}
                value={conflict.theirs[field]}
                base={conflict.base[field]}
              />
            )}
            {isTextOnly && (
              <label className="merge">
                <span>Or put the two together</span>
                <textarea
                  rows={field === "title" ? 1 : 5}
                  value={merged[field]}
                  onChange={(event) => setMerged({ ...merged, [field]: event.target.value })}
                />
              </label>
            )}
          </section>
        ))}
      <p className="choices">
        <button type="button" className="strong" onClick={decide(() => conflict.keepMine())}>
          Keep mine
        </button>
        <button type="button" onClick={decide(() => conflict.takeTheirs())}>
          Take theirs
        </button>
        {isTextOnly && (
          <button type="button" onClick={decide(() => conflict.merge(merged))}>
            Save the merged text
          </button>
        )}
        <button type="button" className="quiet" onClick={() => dialog.current?.close()}>
          Decide later
        </button>
      </p>
    </dialog>
  );
}

/** One version of one field; what differs from `base` is marked. */
function Version(props: { name: string; field: string; value: unknown; base?: unknown }) {
  const text = valueWords(props.value);
  const pieces = props.base === undefined ? [{ text, isChanged: false }] : changedWords(valueWords(props.base), text);
  return (
    <div className="version" data-field={props.field}>
      <h3>{props.name}</h3>
      <p>
        {text === "" && <em>empty</em>}
        {pieces.map((piece, at) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: a piece is nothing but its place
          piece.isChanged ? <mark key={at}>{piece.text}</mark> : <span key={at}>{piece.text}</span>,
        )}
      </p>
    </div>
  );
}

const isText = (value: unknown) => value === undefined || value === null || typeof value === "string";

const possessive = (name: string) => (name.startsWith("you") || name === "someone else" ? "Theirs" : `${name}’s`);
