/** A notification carries fewer than 8 000 bytes, in the database's own encoding. */
export const NOTIFICATION_BYTES = 7_999;

/** Cuts a text into pieces of so many bytes of UTF-8 at most, never within a character. */
export function cutIntoChunks(text: string, most: number): string[] {
  const bytes = Buffer.from(text);
  const chunks: string[] = [];
  for (let from = 0; from < bytes.length || chunks.length === 0; ) {
    let to = Math.min(from + most, bytes.length);
    // A byte that goes on with a character begins with 10.
    while (to < bytes.length && ((bytes[to] as number) & 0xc0) === 0x80) to -= 1;
    chunks.push(bytes.toString("utf8", from, to));
    from = to;
  }
  return chunks;
}

/**
 * Puts the pieces of texts together again, sender by sender. Pieces of one sender come in order; where one was lost,
 * its text is lost, and the others are not.
 */
export function createJoiner(): (sender: string, chunk: string) => string | undefined {
  const begun = new Map<string, { name: string; parts: string[] }>();
  return (sender, chunk) => {
    const found = /^(\d+) (\d+) (\d+) (.*)$/s.exec(chunk);
    if (!found) return undefined;
    const [, name = "", at, of, part = ""] = found;
    if (Number(at) === 0) begun.set(sender, { name, parts: [] });
    const text = begun.get(sender);
    if (!text || text.name !== name || text.parts.length !== Number(at)) {
      begun.delete(sender);
      return undefined;
    }
    text.parts.push(part);
    if (text.parts.length < Number(of)) return undefined;
    begun.delete(sender);
    return text.parts.join("");
  };
}

/** `<name> <at> <of> <part>` for each piece. */
export function chunksOf(name: number, text: string, most: number): string[] {
  // The longest head that a piece can have: three whole numbers, and the spaces.
  const parts = cutIntoChunks(text, most - 3 * `${Number.MAX_SAFE_INTEGER} `.length);
  return parts.map((part, i) => `${name} ${i} ${parts.length} ${part}`);
}
