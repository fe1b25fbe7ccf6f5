/** What an error says, in a sentence. It is read from whatever was thrown, and never throws itself. */
export function reasonOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    // An object that does not become a text.
    return "unknown reason";
  }
}
