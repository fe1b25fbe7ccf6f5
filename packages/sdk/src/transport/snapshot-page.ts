import type { TokenFacts } from "../core/events.ts";
import { nextTask } from "../engine/next-task.ts";
import type { SnapshotEnd, SnapshotLine, SnapshotStart } from "../protocol/log/snapshot.ts";
import { textOf } from "./text-of.ts";
import { areReadFacts } from "./token-facts.ts";

export interface SnapshotPage extends TokenFacts {
  readonly kind: "page";
  readonly logId: string;
  readonly stamp: number;
  readonly lines: readonly SnapshotLine[];
  readonly nextCursor: string | null;
}

/** How long to parse before the page, or whatever else the process does, may react. */
const BUSY_MS = 5;
const LOOK_EVERY = 50;

/** Reads a page line by line as it arrives. Undefined: it ended before its last line, so it is incomplete. */
export async function readSnapshotPage(
  body: AsyncIterable<Uint8Array>,
  onProgress: () => void,
): Promise<SnapshotPage | undefined> {
  let start: SnapshotStart | undefined;
  const lines: SnapshotLine[] = [];
  let begun = performance.now();
  for await (const texts of linesOf(body, onProgress))
    for (const text of texts) {
      if (text === "") continue;
      const line = JSON.parse(text) as SnapshotStart | SnapshotLine | SnapshotEnd;
      if (!("object" in line)) lines.push(line);
      else if (line.object === "snapshot") start = areReadFacts(line) ? line : undefined;
      else if (start && line.count === lines.length) {
        const { object: _, ...rest } = start;
        return { kind: "page", ...rest, lines, nextCursor: line.next_cursor };
      }
      // A part of the body may have a thousand lines.
      if (lines.length % LOOK_EVERY > 0 || performance.now() - begun < BUSY_MS) continue;
      await nextTask();
      begun = performance.now();
    }
  return undefined;
}

/** The lines of each part of the body, as it arrives. */
async function* linesOf(body: AsyncIterable<Uint8Array>, onProgress: () => void): AsyncGenerator<readonly string[]> {
  let rest = "";
  for await (const text of textOf(body, onProgress)) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield lines;
  }
  yield [rest];
}
