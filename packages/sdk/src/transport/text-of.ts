/**
 * Decodes a body chunk by chunk. Calls `onProgress` for each chunk, so that a slow body is not taken for a dead connection.
 */
export async function* textOf(body: AsyncIterable<Uint8Array>, onProgress: () => void): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    onProgress();
    const text = decoder.decode(chunk, { stream: true });
    if (text !== "") yield text;
  }
  const rest = decoder.decode();
  if (rest !== "") yield rest;
}
