import { expect, test } from "vitest";
import { linesIn } from "./lines-in.ts";

async function linesOf(pieces: readonly string[], longest?: number): Promise<string[]> {
  async function* come() {
    yield* pieces;
  }
  const lines: string[] = [];
  for await (const line of linesIn(come(), longest)) lines.push(line);
  return lines;
}

test.each([
  ["pieces that end anywhere", ["a", "b\nc", "\n", "\nd"], ["ab", "c", "", "d"]],
  ["line ends of two letters", ["a\r", "\nb\r\n"], ["a", "b"]],
  ["other separators, which JSON may have within a text", ["a\u2028b\u0085c\rd\n"], ["a\u2028b\u0085c\rd"]],
  ["nothing", [], []],
])("[F4] a text is read line by line: %s", async (_, pieces, lines) => {
  expect(await linesOf(pieces)).toEqual(lines);
});

test("[F4] a line that is too long is refused before it is whole", async () => {
  await expect(linesOf(["ok\n", "xxxx", "xxxx", "xxxx"], 10)).rejects.toThrow("a line has more than 10 characters");
});
