import { type FocusEvent, type KeyboardEvent, memo, useEffect, useRef, useState } from "react";
import { ClaimBadge } from "./claim-badge.tsx";
import { isLocked } from "./claim-words.ts";
import { EditableText } from "./editable-text.tsx";
import { PeersAt } from "./peers.tsx";
import { slideState } from "./slide-state.ts";
import { useClaim, useClaims, useConflicts, useMutation, usePending, useRecord, useSyncStatus } from "./sync.ts";

interface Props {
  readonly id: string;
  readonly deckId: string;
  readonly number: number;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** A slide that this window has just added: its title takes the focus. */
  readonly isNew: boolean;
  move(id: string, by: -1 | 1): void;
  remove(id: string): void;
  /** Says that this window is at the slide, or at none. */
  goTo(id: string | null): void;
}

/** One slide: its title and its text, edited in place, and what has not been saved yet. */
export const SlideCard = memo(function SlideCard({
  id,
  deckId,
  number,
  isFirst,
  isLast,
  isNew,
  move,
  remove,
  goTo,
}: Props) {
  const slide = useRecord("slide", id);
  const write = useMutation("slide");
  const state = useSlideState(id);
  const claim = useClaim("slide", id, CLAIM);
  const { queue } = useClaims("slide", [id])[id] ?? NOBODY;
  const locked = isLocked(claim);
  const badge = `claim-${id}`;
  const [isHere, setHere] = useState(false);
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

  const isText = ({ target }: FocusEvent) => target instanceof HTMLTextAreaElement;
  // Whoever writes has the slide: it is claimed with the first field that takes the focus, and given up with the last.
  const onFocus = (event: FocusEvent) => {
    if (!isText(event)) return;
    setHere(true);
    goTo(id);
    if (!locked) claim.claim();
  };
  const onBlur = (event: FocusEvent) => {
    if (
      !isText(event) ||
      (event.relatedTarget instanceof HTMLTextAreaElement && event.currentTarget.contains(event.relatedTarget))
    )
      return;
    setHere(false);
    goTo(null);
    if (claim.status !== "theirs") claim.release();
  };
  const takeOver = () => {
    claim.takeOver();
    titleField.current?.focus();
  };
  const under = (readAt: number) => ({ readAt, ...(claim.lease && { claim: claim.lease }) });

  return (
    <li className="slide" id={`slide-${id}`} data-state={state || "Saved"} data-locked={locked} onKeyDown={onKeyDown}>
      <span className="slide-number" aria-hidden="true">
        {number}
      </span>
      <article aria-label={`Slide ${number}: ${name}`} tabIndex={-1} onFocus={onFocus} onBlur={onBlur}>
        <EditableText
          label={`Title of slide ${number}`}
          className="slide-title"
          placeholder="Untitled"
          value={slide.title ?? ""}
          oneLine
          isLocked={locked}
          describedBy={badge}
          fieldRef={titleField}
          commit={(title, readAt) => write.update(id, { title }, under(readAt))}
        />
        <EditableText
          label={`Text of slide ${number}`}
          className="slide-notes"
          placeholder="Write something…"
          value={slide.notes ?? ""}
          isLocked={locked}
          describedBy={badge}
          commit={(notes, readAt) => write.update(id, { notes }, under(readAt))}
        />
        <footer>
          <span className="slide-state">{state}</span>
          <ClaimBadge id={badge} claim={claim} queue={queue} isHere={isHere} takeOver={takeOver} />
          <PeersAt deckId={deckId} slideId={id} />
          <span className="slide-tools">
            <button
              type="button"
              aria-label={`Move “${name}” up`}
              disabled={isFirst || locked}
              onClick={() => move(id, -1)}
            >
              <Arrow up />
            </button>
            <button
              type="button"
              aria-label={`Move “${name}” down`}
              disabled={isLast || locked}
              onClick={() => move(id, 1)}
            >
              <Arrow />
            </button>
            <button type="button" aria-label={`Delete “${name}”`} disabled={locked} onClick={() => remove(id)}>
              Delete
            </button>
          </span>
        </footer>
      </article>
    </li>
  );
});

/** For as long as it is edited: it is renewed meanwhile, and a window that is gone loses it soon. */
const CLAIM = { ttl: "20s" } as const;
const NOBODY = { queue: [] } as const;

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
