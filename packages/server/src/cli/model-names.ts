import { UsageError } from "./usage-error.ts";

/** `Slide, Document` → both names. */
export function modelNames(events: string): readonly string[] {
  const names = events.split(",").map((name) => name.trim());
  if (names.includes("")) throw new UsageError("--events must be model names separated by commas, or *.");
  return names;
}
