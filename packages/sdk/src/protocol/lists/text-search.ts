import type { Model } from "../schema/model-schema.ts";

/**
 * The form of a text in which words are searched: in lower case by Unicode's rules for any language, composed (NFC), and
 * without what differs by a letter's place or language only: ς is σ, and i̇ (of İ) is i. The server's database function
 * `holdfast.folded` does the same.
 */
export const folded = (text: string): string =>
  text.toLowerCase().normalize().replaceAll("ς", "σ").replaceAll("i\u0307", "i");

/** The words of a search. Some may be empty: they occur in every text, so that a search without words finds everything. */
export const searchWords = (text: string): string[] => folded(text).split(/\s+/);

/** The fields that a search without a field looks at: those with `index: "text"`. */
export const searchedFields = (model: Model | undefined): string[] =>
  Object.entries(model?.fields ?? {}).flatMap(([name, { index }]) => (index === "text" ? [name] : []));

/** Whether each word is a part of the text, or of one of several. What is no text has no words. */
export function hasWords(words: readonly string[], texts: unknown): boolean {
  const whole = folded(
    [texts]
      .flat()
      .filter((text) => typeof text === "string")
      .join("\n"),
  );
  return words.every((word) => whole.includes(word));
}
