import { useContext, useEffect, useRef, useState } from "react";
import { nameOfParticipant, PersonContext } from "../people/people.ts";
import { EarlierSlides } from "./earlier-slides.tsx";
import { deckAt, type Moment } from "./history.ts";
import { momentWords } from "./moment-words.ts";
import { useHistory } from "./use-history.ts";

/** The deck as it was at any moment, read from the log. It is looked at, and not edited. */
export function Timeline({ deckId, close }: { deckId: string; close(): void }) {
  const person = useContext(PersonContext);
  const { moments, isWhole, trouble } = useHistory(deckId);
  // Undefined: the newest, whatever comes.
  const [chosen, setChosen] = useState<number>();
  const range = useRef<HTMLInputElement>(null);
  const count = Math.min(chosen ?? moments.length, moments.length);
  const deck = deckAt(moments, count);
  const moment = moments[count - 1];
  const says = moment ? sentence(moment, count) : "Before the first change.";
  const shown = `${count} of ${moments.length}`;
  // What was pressed to come here is gone; there is something to choose from once all has been read.
  useEffect(() => {
    if (isWhole) range.current?.focus();
  }, [isWhole]);

  function sentence(moment: Moment, at: number): string {
    const nameOf = (participant: string) => (participant === `user:${person}` ? "you" : nameOfParticipant(participant));
    return momentWords(moment, deckAt(moments, at - 1), nameOf);
  }

  return (
    <section aria-label="Earlier states" className="deck timeline">
      <div className="timeline-bar">
        <p className="timeline-says">
          <strong>{count === moments.length ? "As it is now" : "As it was"}</strong>
          <span>{trouble || (isWhole ? says : "Reading what happened…")}</span>
          {moment && isWhole && <time dateTime={moment.at}>{clock.format(new Date(moment.at))}</time>}
        </p>
        <div className="timeline-controls">
          <input
            ref={range}
            type="range"
            aria-label="Changes of this deck"
            aria-valuetext={`${shown}: ${says}`}
            min={0}
            max={moments.length}
            value={count}
            disabled={!isWhole}
            onChange={(event) => {
              const to = Number(event.target.value);
              setChosen(to === moments.length ? undefined : to);
            }}
          />
          <span className="timeline-count">{shown}</span>
          <button type="button" className="strong" onClick={close}>
            Back to the board
          </button>
        </div>
      </div>
      <EarlierSlides deck={deck} />
    </section>
  );
}

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
