/** A body as text, piece by piece as it comes in; each piece is told of, so that a slow one is not taken for a dead one. */
export async function* textOf(body: ReadableStream<Uint8Array> | null, heard: () => void): AsyncGenerator<string> {
  if (!body) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      heard();
      const text = decoder.decode(value, { stream: !done });
      if (text !== "") yield text;
      if (done) return;
    }
  } finally {
    // Also when the reader stops early: the connection must not stay open for a page that nobody reads.
    await reader.cancel().catch(() => {});
  }
}
