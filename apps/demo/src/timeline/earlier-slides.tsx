import { memo, useEffect, useRef } from "react";
import type { EarlierDeck, EarlierSlide } from "./history.ts";

/** Slides as they were: text, and nothing to press. What the moment changed is marked, and brought into view. */
export function EarlierSlides({ deck: { slides, changed } }: { deck: EarlierDeck }) {
  const list = useRef<HTMLOListElement>(null);
  const [first] = changed;
  useEffect(() => {
    if (first === undefined) return;
    list.current?.querySelector("[data-changed]")?.scrollIntoView({ block: "nearest" });
  }, [first]);
  if (slides.length === 0) return <p className="empty">There were no slides then.</p>;
  return (
    <ol ref={list}>
      {slides.map(({ id, title, notes }, at) => (
        <Earlier key={id} title={title} notes={notes} number={at + 1} isChanged={changed.has(id)} />
      ))}
    </ol>
  );
}

interface Props extends Pick<EarlierSlide, "title" | "notes"> {
  readonly number: number;
  readonly isChanged: boolean;
}

const Earlier = memo(function Earlier({ title, notes, number, isChanged }: Props) {
  return (
    <li className="slide earlier" data-changed={isChanged || undefined}>
      <span className="slide-number" aria-hidden="true">
        {number}
      </span>
      <article aria-label={`Slide ${number}: ${title || "untitled"}`}>
        <h2 className="slide-title">{title || <em>Untitled</em>}</h2>
        <p className="slide-notes">{notes}</p>
      </article>
    </li>
  );
});
