import type { Conflict } from "@holdfast/sdk";
import { useEffect, useId, useRef, useState } from "react";
import { useWriterName } from "../people/people.ts";
import { orderAtEnd } from "../slides/slide-order.ts";
import { useClient } from "../sync.ts";
import { changedWords } from "./changed-words.ts";
import { choiceWords, conflictSentence, fieldName, valueWords } from "./conflict-words.ts";
import { mergeWords } from "./merge-words.ts";
import { useSlideName } from "./use-slide-name.ts";

interface Props {
  readonly conflict: Conflict;
  /** The deck that is shown: where a slide goes that is added again. */
  readonly deckId: string | undefined;
  close(): void;
}

/** Mine, what it was before, and theirs, side by side; and the choice between them. */
export function ConflictDialog({ conflict, deckId, close }: Props) {
  const client = useClient();
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const headingId = useId();
  const writer = useWriterName(conflict.writtenBy);
  const slide = useSlideName(conflict);
  const choices = choiceWords(conflict);
  const { fields, mine, base, theirs } = conflict;
  const canMerge = conflict.action !== "delete" && theirs !== null && fields.every((field) => isText(mine[field]));
  // Where both changes fit into one text it is there already; where they do not, mine is there, to be finished.
  const [fitting] = useState<Readonly<Record<string, string | undefined>>>(() =>
    Object.fromEntries(
      fields.map((field) => [
        field,
        mergeWords(valueWords(base[field]), valueWords(mine[field]), valueWords(theirs?.[field])),
      ]),
    ),
  );
  const [merged, setMerged] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(fields.map((field) => [field, fitting[field] ?? valueWords(mine[field])])),
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

  const keepMine = () => {
    if (theirs !== null || !deckId) return conflict.keepMine();
    // There is nothing left to change. What was written becomes a slide of its own, at the end of the deck.
    conflict.takeTheirs();
    const slides = client.models.slide.list({ where: { deckId }, orderBy: "order" });
    const { title, notes } = { ...base, ...mine };
    return client.models.slide.create({
      deckId,
      title: valueWords(title),
      notes: valueWords(notes),
      order: orderAtEnd(slides),
    });
  };

  return (
    <dialog ref={dialog} className="conflict" aria-labelledby={headingId} onClose={close}>
      <h2 id={headingId} ref={heading} tabIndex={-1}>
        {conflictSentence(conflict, writer, slide)}
      </h2>
      {conflict.action !== "delete" &&
        fields.map((field) => (
          <section key={field} className="versions" aria-label={fieldName(field)}>
            <Version name="Yours" value={mine[field]} base={base[field]} />
            <Version name="Before" value={base[field]} />
            {theirs && <Version name={possessive(writer)} value={theirs[field]} base={base[field]} />}
            {canMerge && (
              <Merge
                lines={field === "title" ? 1 : 5}
                fits={fitting[field] !== undefined}
                base={valueWords(base[field])}
                text={merged[field] ?? ""}
                change={(text) => setMerged({ ...merged, [field]: text })}
              />
            )}
          </section>
        ))}
      <p className="choices">
        <button type="button" className="strong" onClick={decide(keepMine)}>
          {choices.mine}
        </button>
        <button type="button" onClick={decide(() => conflict.takeTheirs())}>
          {choices.theirs}
        </button>
        {canMerge && (
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

interface MergeProps {
  readonly lines: number;
  /** The two changes are in one text already. */
  readonly fits: boolean;
  readonly base: string;
  readonly text: string;
  change(text: string): void;
}

/** A text of both, to be edited, and how it would differ from what was before. */
function Merge({ lines, fits, base, text, change }: MergeProps) {
  const id = useId();
  return (
    <div className="merge">
      <label htmlFor={id}>Or merge the two</label>
      <p className="hint">
        {fits
          ? "Both changes fit into one text. Edit it if you like."
          : "Both changed the same words. This begins as yours; edit it."}
      </p>
      <textarea id={id} rows={lines} value={text} onChange={(event) => change(event.target.value)} />
      <Version name="Merged, it would be" value={text} base={base} />
    </div>
  );
}

/** One version of one field; what differs from `base` is marked. */
function Version({ name, value, base }: { name: string; value: unknown; base?: unknown }) {
  const text = valueWords(value);
  const pieces = base === undefined ? [{ text, isChanged: false }] : changedWords(valueWords(base), text);
  return (
    <div className="version">
      <h3>{name}</h3>
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

const possessive = (name: string) => (name === "someone else" ? "Theirs" : `${name}’s`);
