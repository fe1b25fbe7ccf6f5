import { memo, useCallback, useRef, useState } from "react";
import { LookInside } from "../inside/look-inside.tsx";
import { roomOf, usePeersBySlide } from "../people/peers.tsx";
import { afterPaint } from "../slides/after-paint.ts";
import { useBySlide } from "../slides/by-slide.ts";
import { SlideCard, type SlideCardProps } from "../slides/slide-card.tsx";
import { moveSlide, orderAtEnd } from "../slides/slide-order.ts";
import { useSlideStates } from "../slides/use-slide-states.ts";
import { useClient, useMutation, useMyPresence, useQuery } from "../sync.ts";
import { Undo, type Undoable } from "./undo.tsx";
import { useHasRows } from "./use-has-rows.ts";

/** The slides of one deck, in order. */
export function Deck({ deckId, lookBack }: { deckId: string; lookBack(): void }) {
  const client = useClient();
  const { create, delete: remove, commit } = useMutation("slide");
  const places = useQuery(
    "slide",
    { where: { deckId }, orderBy: "order" },
    (slides) => slides.map(({ id, order }) => ({ id, order })),
    samePlaces,
  );
  const hasRows = useHasRows();
  const states = useBySlide(useSlideStates());
  const peers = useBySlide(usePeersBySlide(deckId));
  const [, setPresence] = useMyPresence(roomOf(deckId), AT_NO_SLIDE);
  const place = useRef<{ now: string | null; said: string | null }>({ now: null, said: null });
  const goTo = useCallback(
    (slide: string | null) => {
      place.current.now = slide;
      // A person who moves from one slide to the next leaves neither on the way: only the slide where they stop is announced.
      afterPaint(() => {
        const { now, said } = place.current;
        if (now !== said) setPresence({ slide: now });
        place.current.said = now;
      });
    },
    [setPresence],
  );
  const [newId, setNewId] = useState<string>();
  const [deleted, setDeleted] = useState<Undoable>();
  const forgetDeleted = useCallback(() => setDeleted(undefined), []);

  const move = useCallback(
    (id: string, by: -1 | 1) => {
      const slides = client.models.slide.list({ where: { deckId }, orderBy: "order" });
      const from = slides.findIndex((slide) => slide.id === id);
      const moves = moveSlide(slides, from, from + by);
      if (moves.length === 0) return;
      commit(moves.map((one) => ({ action: "update", model: "slide", id: one.id, data: { order: one.order } })));
    },
    [client, commit, deckId],
  );

  const removeSlide = useCallback(
    (id: string) => {
      const slides = client.models.slide.list({ where: { deckId }, orderBy: "order" });
      const at = slides.findIndex((slide) => slide.id === id);
      const slide = slides[at];
      if (!slide) return;
      const behind = slides[at - 1]?.id;
      const { undo } = remove(id);
      setDeleted({ says: `Deleted “${slide.title?.trim() || "Untitled"}”.`, behind, undo });
      // The button that had the focus is gone with its card.
      const near = slides[at + 1]?.id ?? behind;
      if (near) document.querySelector<HTMLElement>(`#slide-${CSS.escape(near)} textarea`)?.focus();
    },
    [client, remove, deckId],
  );

  const add = () => setNewId(create({ deckId, title: "", notes: "", order: orderAtEnd(places) }).id);

  return (
    <section aria-label="Slides" className="deck">
      <div className="deck-tools">
        <LookInside deckId={deckId} />
        <button type="button" onClick={lookBack}>
          Look back in time
        </button>
      </div>
      {places.length === 0 && hasRows && <p className="empty">No slides here yet.</p>}
      <Cards
        places={places}
        states={states}
        peers={peers}
        newId={newId}
        move={move}
        remove={removeSlide}
        goTo={goTo}
        deleted={deleted}
        forgetDeleted={forgetDeleted}
      />
      <button type="button" className="add" onClick={add}>
        Add a slide
      </button>
      <p role="status" className="unseen">
        {deleted?.says}
      </p>
    </section>
  );
}

interface CardsProps extends Pick<SlideCardProps, "states" | "peers" | "move" | "remove" | "goTo"> {
  readonly places: readonly Slot[];
  readonly newId: string | undefined;
  readonly deleted: Undoable | undefined;
  forgetDeleted(): void;
}

/** Rendered when slides come, go or move; of what else happens, each card hears for itself. */
const Cards = memo(function Cards({ places, newId, deleted, forgetDeleted, ...shared }: CardsProps) {
  const undo = deleted && <Undo key="undo" undoable={deleted} done={forgetDeleted} />;
  // The slide before it may be gone as well.
  const undoAt = deleted ? places.findIndex(({ id }) => id === deleted.behind) + 1 : -1;
  return (
    <ol>
      {undoAt === 0 && undo}
      {places.flatMap(({ id }, at) => [
        <SlideCard
          key={id}
          id={id}
          number={at + 1}
          isFirst={at === 0}
          isLast={at === places.length - 1}
          isNew={id === newId}
          {...shared}
        />,
        undoAt === at + 1 && undo,
      ])}
    </ol>
  );
});

const AT_NO_SLIDE = { slide: null };

interface Slot {
  readonly id: string;
  readonly order: number;
}

/** A slide whose text changes keeps its place: only the card itself has to render. */
function samePlaces(a: readonly Slot[], b: readonly Slot[]): boolean {
  return a.length === b.length && a.every((place, at) => place.id === b[at]?.id && place.order === b[at].order);
}
