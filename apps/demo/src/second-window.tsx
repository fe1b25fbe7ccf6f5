import { nameOfPerson, somebodyElse } from "./session.ts";
import { addressOf } from "./use-deck-id.ts";

/** Two windows of one browser, two people: each has a key and a local copy of their own. */
export function SecondWindow({ person, deckId }: { person: string; deckId: string | undefined }) {
  const other = somebodyElse(person);
  return (
    <section className="panel people" aria-labelledby="people-heading">
      <h2 id="people-heading">You are {nameOfPerson(person)}</h2>
      <p>
        <a href={addressOf({ person: other, ...(deckId && { deck: deckId }) })} target="_blank" rel="noopener">
          Open a second window as {nameOfPerson(other)}
        </a>
      </p>
      <p className="hint">
        Put the two side by side. Work offline in one, change the same title in both, and come back.
      </p>
    </section>
  );
}
