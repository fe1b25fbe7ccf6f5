/** Longer than any line of a dump: a row has some MiB. */
const LONGEST = 2 ** 28;

/**
 * The lines of a text that comes in pieces. Node's `readline` ends the process at a line that is longer than a string can
 * be, where no `catch` reaches.
 */
export async function* linesIn(pieces: AsyncIterable<string>, longest: number = LONGEST): AsyncGenerator<string> {
  let begun = "";
  for await (const piece of pieces) {
    const lines = piece.split("\n");
    const rest = lines.pop() ?? "";
    for (const line of lines) {
      yield withoutReturn(begun + line);
      begun = "";
    }
    begun += rest;
    if (begun.length > longest) throw new Error(`a line has more than ${longest} characters`);
  }
  if (begun !== "") yield withoutReturn(begun);
}

const withoutReturn = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);
