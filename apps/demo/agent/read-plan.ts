import { type ImportPlan, planImport } from "./plan-import.ts";

export const LARGEST_FILE = 500_000;

/** What an import of these bytes would write; throws a sentence that says why they cannot be imported. */
export function readPlan(name: string, bytes: Uint8Array, copy = 1): ImportPlan {
  if (bytes.length > LARGEST_FILE)
    throw new Error(`${name} is larger than ${LARGEST_FILE / 1000} kB. Split it into parts.`);
  const plan = planImport(name, textOf(name, bytes), copy);
  if (plan.document.content.trim() === "") throw new Error(`${name} is empty: there is nothing to import.`);
  return plan;
}

function textOf(name: string, bytes: Uint8Array): string {
  const sentence = `${name} is not UTF-8 text.`;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (text.includes("\0")) throw new Error(sentence);
    return text;
  } catch {
    throw new Error(sentence);
  }
}
