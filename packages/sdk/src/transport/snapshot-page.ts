import type { TokenFacts } from "../core/events.ts";
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

/** Reads a page line by line as it arrives. Undefined: it ended before its last line, so it is incomplete. */
export async function readSnapshotPage(
  body: AsyncIterable<Uint8Array>,
  onProgress: () => void,
): Promise<SnapshotPage | undefined> {
  let start: SnapshotStart | undefined;
  const lines: SnapshotLine[] = [];
  for await (const text of linesOf(body, onProgress)) {
    const line = JSON.parse(text) as SnapshotStart | SnapshotLine | SnapshotEnd;
    if (!("object" in line)) lines.push(line);
    else if (line.object === "snapshot") start = areReadFacts(line) ? line : undefined;
    else if (start && line.count === lines.length) {
      const { object: _, ...rest } = start;
      return { kind: "page", ...rest, lines, nextCursor: line.next_cursor };
    }
  }
  return undefined;
}

async function* linesOf(body: AsyncIterable<Uint8Array>, onProgress: () => void): AsyncGenerator<string> {
  let rest = "";
  for await (const text of textOf(body, onProgress)) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield line;
  }
  if (rest !== "") yield rest;
}
