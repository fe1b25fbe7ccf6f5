import type { RoomPeer } from "@holdfast/sdk";
import { type FocusEvent, type KeyboardEvent, memo, useEffect, useRef, useState } from "react";
import { DecisionLink } from "../conflicts/decision-link.tsx";
import { ClaimBadge } from "../people/claim-badge.tsx";
import { isLocked } from "../people/claim-words.ts";
import { PeersAt } from "../people/peers.tsx";
import { useClaim, useMutation, useRecord } from "../sync.ts";
import { afterPaint } from "./after-paint.ts";
import { type BySlide, useOfSlide } from "./by-slide.ts";
import { EditableText } from "./editable-text.tsx";
import { DECISION } from "./slide-state.ts";
import { useEditing } from "./use-editing.ts";

export interface SlideCardProps {
  readonly id: string;
  readonly number: number;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** About unsaved edits, where there are any. */
  readonly states: BySlide<string>;
  /** Who of the others is at which slide. */
  readonly peers: BySlide<readonly RoomPeer[]>;
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
  number,
  states,
  peers,
  isFirst,
  isLast,
  isNew,
  move,
  remove,
  goTo,
}: SlideCardProps) {
  const slide = useRecord("slide", id);
  const write = useMutation("slide");
  const claim = useClaim("slide", id, CLAIM);
  const state = useOfSlide(states, id) ?? "";
  const here = useOfSlide(peers, id);
  const locked = isLocked(claim);
  const badge = `claim-${id}`;
  const [isHere, setHere] = useState(false);
  const editing = useEditing(claim);
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
  const onFocus = (event: FocusEvent) => {
    if (!isText(event)) return;
    goTo(id);
    afterPaint(() => setHere(true));
  };
  const onBlur = (event: FocusEvent) => {
    const next = event.relatedTarget;
    if (!isText(event) || (next instanceof HTMLTextAreaElement && event.currentTarget.contains(next))) return;
    goTo(null);
    afterPaint(() => {
      setHere(false);
      editing.end();
    });
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
      <article
        aria-label={`Slide ${number}: ${slide.title?.trim() || "untitled"}`}
        tabIndex={-1}
        onFocus={onFocus}
        onBlur={onBlur}
      >
        <EditableText
          label={`Title of slide ${number}`}
          className="slide-title"
          placeholder="Untitled"
          value={slide.title ?? ""}
          oneLine
          isLocked={locked}
          describedBy={badge}
          fieldRef={titleField}
          begin={editing.begin}
          end={editing.end}
          commit={(title, readAt) => write.update(id, { title }, under(readAt))}
        />
        <EditableText
          label={`Text of slide ${number}`}
          className="slide-notes"
          placeholder="Write something…"
          value={slide.notes ?? ""}
          isLocked={locked}
          describedBy={badge}
          begin={editing.begin}
          end={editing.end}
          commit={(notes, readAt) => write.update(id, { notes }, under(readAt))}
        />
        <footer>
          <span className="slide-state">
            {state === DECISION ? <DecisionLink slide={id}>{state}</DecisionLink> : state}
          </span>
          <ClaimBadge id={badge} slideId={id} claim={claim} isHere={isHere} takeOver={takeOver} />
          <PeersAt here={here} />
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

const Arrow = ({ up }: { up?: boolean }) => (
  <svg viewBox="0 0 16 16" aria-hidden="true">
    <path d={up ? "M8 13V3M3.5 7.5 8 3l4.5 4.5" : "M8 3v10M3.5 8.5 8 13l4.5-4.5"} />
  </svg>
);
