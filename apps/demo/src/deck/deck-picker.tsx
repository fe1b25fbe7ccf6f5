import { useId } from "react";
import type { Deck } from "../schema.ts";

/** The deck's name, and a choice when several documents were imported. */
export function DeckPicker(props: { decks: readonly Deck[]; deckId: string; choose(deckId: string): void }) {
  const id = useId();
  if (props.decks.length < 2) return null;
  return (
    <p className="picker">
      <label htmlFor={id}>Deck</label>
      <select id={id} value={props.deckId} onChange={(event) => props.choose(event.target.value)}>
        {props.decks.map((deck) => (
          <option key={deck.id} value={deck.id}>
            {deck.title || "Untitled"}
          </option>
        ))}
      </select>
    </p>
  );
}
