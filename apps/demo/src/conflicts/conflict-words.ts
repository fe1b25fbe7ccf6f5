import type { Conflict } from "@holdfast/sdk";

const fieldNames: Readonly<Record<string, string>> = { title: "title", notes: "text", order: "place" };

export const fieldName = (field: string): string => fieldNames[field] ?? field;

/** Who changed what: the sentence above a decision. `slide` is the name of the slide. */
export function conflictSentence(conflict: Conflict, writer: string, slide: string): string {
  if (conflict.theirs === null) return `You changed ${slide}, and ${writer} deleted it meanwhile.`;
  if (conflict.action === "delete") return `You deleted ${slide}, and ${writer} changed it meanwhile.`;
  const what = `the ${listed(conflict.fields.map(fieldName))} of ${slide}`;
  if (conflict.reason === "stale") return `You and ${writer} both changed ${what}.`;
  // A claim blocked it; no other change is needed for that.
  return conflict.holders.length > 0
    ? `You changed ${what}, and ${writer} had it by then.`
    : `You changed ${what}, and your turn had ended by then.`;
}

/** How the slide was called before either side touched it; what it is called now may be what the quarrel is about. */
export function slideName(conflict: Conflict, titleNow: string | undefined): string {
  const title = valueWords(conflict.base.title ?? titleNow).trim();
  return title ? `“${title}”` : "a slide";
}

/** What the two plain answers are called. */
export function choiceWords(conflict: Conflict): { readonly mine: string; readonly theirs: string } {
  if (conflict.theirs === null) return { mine: "Add it as a new slide", theirs: "Discard it" };
  if (conflict.action === "delete") return { mine: "Delete it anyway", theirs: "Keep the slide" };
  return { mine: "Keep mine", theirs: "Take theirs" };
}

/** A value as a reader should see it. */
export function valueWords(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function listed(words: readonly string[]): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
