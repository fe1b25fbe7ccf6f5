import { expect, test } from "vitest";
import type { Scope } from "../core/log/rows.ts";
import { clientLimits as limits } from "../protocol/client-limits.ts";
import type { Snapshot } from "./ports.ts";
import { SnapshotReader } from "./snapshot-reader.ts";

const whole = limits.snapshotPage;
const cursors: Readonly<Record<string, string | null>> = { first: "a", a: "b", b: null };

/** A reader of pages with so many rows, and what it has asked the server for. */
function start(rows = 0) {
  const asked: string[] = [];
  const signals: AbortSignal[] = [];
  const reader = new SnapshotReader({
    readSnapshot: async (at, signal, scope) => {
      asked.push([at ?? "first", ...(scope?.groups ?? [])].join(" of "));
      signals.push(signal);
      const lines = Array.from({ length: rows }, (_, i) => ({ id: `${at ?? "first"}-${i}` }));
      return { kind: "snapshot", cursor: cursors[at ?? "first"], lines } as unknown as Snapshot;
    },
  });
  return { reader, asked, signals };
}

test("[N13] while a page is taken in, the next one is on its way, and none is read twice", async () => {
  const { reader, asked } = start();
  await reader.read(null, {}, whole);
  expect(asked).toEqual(["first", "a"]);
  await reader.read("a", {}, whole);
  expect(asked).toEqual(["first", "a", "b"]);
  await reader.read("b", {}, whole);
  expect(asked).toEqual(["first", "a", "b"]);
});

test.each<[string, string | null, Scope]>([
  ["of other rows", "a", { groups: ["deck:1"] }],
  ["from the beginning", null, {}],
])("[N13] if the client reads on %s, the page that is on its way is given up", async (_, at, scope) => {
  const { reader, asked, signals } = start();
  await reader.read(null, {}, whole);
  await reader.read(at, scope, whole);
  expect(signals[1]?.aborted).toBe(true);
  expect(asked[2]).toBe([at ?? "first", ...(scope.groups ?? [])].join(" of "));
  expect(signals[2]?.aborted).toBe(false);
});

test("[N13] after an abort nothing is on its way", async () => {
  const { reader, asked, signals } = start();
  const read = reader.read(null, {}, whole);
  reader.abort();
  await read;
  expect(asked).toEqual(["first"]);
  expect(signals[0]?.aborted).toBe(true);
});

test("[N19] on a slow line, which cannot take whole pages, no page is requested early", async () => {
  const { reader, asked } = start();
  await reader.read(null, {}, whole / 2);
  expect(asked).toEqual(["first"]);
});

/** Reads piece by piece, as the client does, from a place on. Returns how many rows each had, and all of them. */
async function readAll(reader: SnapshotReader, from: string | null, until = Number.POSITIVE_INFINITY) {
  const ids: string[] = [];
  const sizes: number[] = [];
  let at: string | null = from;
  do {
    const read = await reader.read(at, {}, whole);
    if (read.kind !== "snapshot") throw new Error("The page was not read.");
    ids.push(...read.lines.map(({ id }) => id));
    sizes.push(read.lines.length);
    at = read.cursor;
  } while (at !== null && sizes.length < until);
  return { ids, sizes, at };
}

const idsOf = (page: string, rows: number) => Array.from({ length: rows }, (_, i) => `${page}-${i}`);

test.each([
  [1_000, [1_000]],
  [1_001, [1_000, 1]],
  [2_000, [1_000, 1_000]],
  [2_500, [1_000, 1_000, 500]],
])(
  "[N43] the client takes in a page of %d rows in pieces of %j, each row once and each page read once",
  async (rows, pieces) => {
    const { reader, asked } = start(rows);
    const { ids, sizes } = await readAll(reader, null);
    expect(sizes).toEqual([...pieces, ...pieces, ...pieces]);
    expect(ids).toEqual(["first", "a", "b"].flatMap((page) => idsOf(page, rows)));
    expect(asked).toEqual(["first", "a", "b"]);
  },
);

test("[N43] other work of the process goes on between two pieces of a page", async () => {
  const { reader } = start(2_500);
  let tasks = 0;
  let isOver = false;
  const work = () => {
    tasks += 1;
    if (!isOver) setImmediate(work);
  };
  setImmediate(work);
  const seen: number[] = [];
  for (let at: string | null = null, n = 0; n < 3; n++) {
    const read = (await reader.read(at, {}, whole)) as Snapshot;
    seen.push(tasks);
    at = read.cursor;
  }
  isOver = true;
  expect(new Set(seen).size).toBe(3);
});

test("[N44] while a page is taken in, the next one is on its way", async () => {
  const { reader, asked } = start(2_500);
  await reader.read(null, {}, whole);
  expect(asked).toEqual(["first", "a"]);
});

test.each<[string, string | null, number]>([
  ["of the first page", null, 1],
  ["of a later page", null, 4],
])("[N44] after an abort between two pieces %s, the page is read again from its beginning", async (_, from, taken) => {
  const { reader, asked, signals } = start(2_500);
  const { at } = await readAll(reader, from, taken);
  const page = taken > 3 ? "a" : "first";
  reader.abort();
  asked.length = 0;
  const again = await readAll(reader, at);
  expect(signals[0]?.aborted).toBe(true);
  expect(asked).toEqual(page === "a" ? ["a", "b"] : ["first", "a", "b"]);
  expect(again.ids.slice(0, 2_500)).toEqual(idsOf(page, 2_500));
});

test("[N44] what an abort ends while the client waits for the next piece is no page", async () => {
  const { reader } = start(2_500);
  const { at } = await readAll(reader, null, 1);
  const read = reader.read(at, {}, whole);
  reader.abort();
  expect(await read).toMatchObject({ kind: "silence", timedOut: false });
});

test("[N44] if the client drops what it has and begins anew, the rest of the page is given up", async () => {
  const { reader, asked } = start(2_500);
  await readAll(reader, null, 1);
  const { ids } = await readAll(reader, null);
  expect(ids).toEqual(["first", "a", "b"].flatMap((page) => idsOf(page, 2_500)));
  expect(asked).toEqual(["first", "a", "first", "a", "b"]);
});

test("[N44] the same of rows of another scope", async () => {
  const { reader, asked } = start(2_500);
  const { at } = await readAll(reader, null, 1);
  await reader.read(at, { groups: ["deck:1"] }, whole);
  expect(asked).toEqual(["first", "a", "first of deck:1", "a of deck:1"]);
});
