import type { Deck } from "../schema.ts";

/** The document that the deck was made of, as the agent found it. */
export function Source({ deck }: { deck: Deck }) {
  if (!deck.content) return null;
  return (
    <details className="source">
      <summary>The document behind this deck</summary>
      <pre>{deck.content}</pre>
    </details>
  );
}
