import { type KeyboardEvent, memo, useEffect, useRef } from "react";
import { EditableText } from "./editable-text.tsx";
import { slideState } from "./slide-state.ts";
import { useConflicts, useMutation, usePending, useRecord, useSyncStatus } from "./sync.ts";

interface Props {
  readonly id: string;
  readonly number: number;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** A slide that this window has just added: its title takes the focus. */
  readonly isNew: boolean;
  move(id: string, by: -1 | 1): void;
  remove(id: string): void;
}

/** One slide: its title and its text, edited in place, and what has not been saved yet. */
export const SlideCard = memo(function SlideCard({ id, number, isFirst, isLast, isNew, move, remove }: Props) {
  const slide = useRecord("slide", id);
  const write = useMutation("slide");
  const state = useSlideState(id);
  const titleField = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (isNew) titleField.current?.focus();
  }, [isNew]);
  if (!slide) return null;
  const name = slide.title?.trim() || `slide ${number}`;

  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
    event.preventDefault();
    move(id, event.key === "ArrowUp" ? -1 : 1);
  };

  return (
    <li className="slide" id={`slide-${id}`} data-state={state || "Saved"} onKeyDown={onKeyDown}>
      <span className="slide-number" aria-hidden="true">
        {number}
      </span>
      <article aria-label={`Slide ${number}: ${name}`} tabIndex={-1}>
        <EditableText
          label={`Title of slide ${number}`}
          className="slide-title"
          placeholder="Untitled"
          value={slide.title ?? ""}
          oneLine
          fieldRef={titleField}
          commit={(title, readAt) => write.update(id, { title }, { readAt })}
        />
        <EditableText
          label={`Text of slide ${number}`}
          className="slide-notes"
          placeholder="Write something…"
          value={slide.notes ?? ""}
          commit={(notes, readAt) => write.update(id, { notes }, { readAt })}
        />
        <footer>
          <span className="slide-state">{state}</span>
          <span className="slide-tools">
            <button type="button" aria-label={`Move “${name}” up`} disabled={isFirst} onClick={() => move(id, -1)}>
              <Arrow up />
            </button>
            <button type="button" aria-label={`Move “${name}” down`} disabled={isLast} onClick={() => move(id, 1)}>
              <Arrow />
            </button>
            <button type="button" aria-label={`Delete “${name}”`} onClick={() => remove(id)}>
              Delete
            </button>
          </span>
        </footer>
      </article>
    </li>
  );
});

function useSlideState(id: string): string {
  const connection = useSyncStatus((status) => status.name);
  const conflicts = useConflicts((all) => all.filter((conflict) => conflict.id === id));
  return usePending((pending) => slideState(id, pending, conflicts, connection));
}

const Arrow = ({ up }: { up?: boolean }) => (
  <svg viewBox="0 0 16 16" aria-hidden="true">
    <path d={up ? "M8 13V3M3.5 7.5 8 3l4.5 4.5" : "M8 3v10M3.5 8.5 8 13l4.5-4.5"} />
  </svg>
);
