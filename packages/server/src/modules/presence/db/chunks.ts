/** A notification has fewer than 8 000 bytes, in the database's encoding. */
export const NOTIFICATION_BYTES = 7_999;

/** Splits a text into chunks of at most `most` bytes of UTF-8, never within a character. */
export function cutIntoChunks(text: string, most: number): string[] {
  const bytes = Buffer.from(text);
  const chunks: string[] = [];
  for (let from = 0; from < bytes.length || chunks.length === 0; ) {
    let to = Math.min(from + most, bytes.length);
    // Continuation bytes of a character start with the bits 10.
    while (to < bytes.length && ((bytes[to] as number) & 0xc0) === 0x80) to -= 1;
    chunks.push(bytes.toString("utf8", from, to));
    from = to;
  }
  return chunks;
}

/**
 * Joins the chunks of texts again, by sender. The chunks of one sender arrive in order. If one is lost, only its text
 * is lost.
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

/** Each chunk is `<name> <at> <of> <part>`. */
export function chunksOf(name: number, text: string, most: number): string[] {
  // Reserve the longest possible header: three whole numbers with spaces.
  const parts = cutIntoChunks(text, most - 3 * `${Number.MAX_SAFE_INTEGER} `.length);
  return parts.map((part, i) => `${name} ${i} ${parts.length} ${part}`);
}
