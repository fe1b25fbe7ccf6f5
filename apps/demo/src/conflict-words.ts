import type { Conflict } from "@holdfast/sdk";

const fieldNames: Readonly<Record<string, string>> = { title: "title", notes: "text", order: "place" };

export const fieldName = (field: string): string => fieldNames[field] ?? field;

/** Who did what to what: the line above a decision. */
export function conflictSentence(conflict: Conflict, writer: string, title: string): string {
  if (conflict.theirs === null) return `You changed “${title}”, and ${writer} deleted it meanwhile.`;
  if (isDeletion(conflict)) return `You deleted “${title}”, and ${writer} changed it meanwhile.`;
  const fields = conflict.fields.map(fieldName);
  return `You and ${writer} both changed the ${listed(fields)} of “${title}”.`;
}

/** A held deletion wants to write no field at all. */
export const isDeletion = (conflict: Conflict): boolean => Object.keys(conflict.mine).length === 0;

/** A value as a reader should see it. */
export function valueWords(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function listed(words: readonly string[]): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
