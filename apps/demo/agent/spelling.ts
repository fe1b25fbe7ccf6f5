/** Misspellings that are wrong wherever they stand. */
const mistakes: Readonly<Record<string, string>> = {
  acheive: "achieve",
  beleive: "believe",
  definately: "definitely",
  occured: "occurred",
  recieve: "receive",
  seperate: "separate",
  teh: "the",
  untill: "until",
};

const wrong = new RegExp(`\\b(${Object.keys(mistakes).join("|")})(s|d|ly)?\\b`, "gi");
/** Only words that are never right twice, as "that" and "had" may be. */
const twice = /\b(a|an|and|in|of|the|to)[ \t]+\1\b/gi;

/** Corrects common misspellings and words written twice. Text without a mistake comes back as it is. */
export const spell = (text: string): string =>
  text
    .replace(wrong, (_, word: string, ending = "") => asIn(word, mistakes[word.toLowerCase()] ?? word) + ending)
    .replace(twice, "$1");

function asIn(word: string, right: string): string {
  return /^\p{Lu}/u.test(word) ? right.charAt(0).toUpperCase() + right.slice(1) : right;
}
