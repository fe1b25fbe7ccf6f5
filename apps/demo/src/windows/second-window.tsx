import { addressOf } from "../deck/use-deck-id.ts";
import { nameOfPerson, somebodyElse } from "../session.ts";
import { isTogether, togetherAddress } from "./together-address.ts";

/** Two windows of one browser, two people: each has a key and a local copy of their own. */
export function SecondWindow({ person, deckId }: { person: string; deckId: string | undefined }) {
  const other = somebodyElse(person);
  return (
    <section className="panel people" aria-labelledby="people-heading">
      <h2 id="people-heading">You are {nameOfPerson(person)}</h2>
      {!isTogether && (
        <>
          <p>
            <a href={togetherAddress([person, other], deckId)}>
              {nameOfPerson(person)} and {nameOfPerson(other)} side by side
            </a>
          </p>
          <p>
            <a href={addressOf({ person: other, ...(deckId && { deck: deckId }) })} target="_blank" rel="noopener">
              Open a second window as {nameOfPerson(other)}
            </a>
          </p>
        </>
      )}
      <p className="hint">Go offline in one window, change the same title in both, and come back.</p>
    </section>
  );
}
