import type { Deck } from "../schema.ts";

/** What a deck says about the file that it was made of. */
export interface Source {
  readonly name: string;
  readonly hash: string;
}

/** The file behind an imported deck; undefined: the deck was not imported. */
export function sourceOf({ metadata }: Pick<Deck, "metadata">): Source | undefined {
  try {
    const { fileName, sha256 } = JSON.parse(metadata ?? "") as Readonly<Record<string, unknown>>;
    return typeof fileName === "string" && typeof sha256 === "string" ? { name: fileName, hash: sha256 } : undefined;
  } catch {
    return undefined;
  }
}

/** The number of the next copy of a file: a replay makes a deck of its own, and leaves what people wrote in the others. */
export const nextCopy = ({ hash }: Source, decks: readonly Pick<Deck, "metadata">[]): number =>
  decks.filter((deck) => sourceOf(deck)?.hash === hash).length + 1;
