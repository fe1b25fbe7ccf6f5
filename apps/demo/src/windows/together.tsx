import { nameOfPerson } from "../session.ts";

/** Several people's windows side by side, each a page of its own, with a key and a local copy of its own. */
export function Together({ people, deckId }: { people: readonly string[]; deckId: string | undefined }) {
  return (
    <main className="together">
      <h1 className="unseen">{people.map(nameOfPerson).join(" and ")}, side by side</h1>
      {people.map((person) => (
        <iframe
          key={person}
          title={`${nameOfPerson(person)}’s window`}
          src={`?${new URLSearchParams({ person, ...(deckId && { deck: deckId }) })}`}
        />
      ))}
    </main>
  );
}
