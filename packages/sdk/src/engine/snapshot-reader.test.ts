import { expect, test } from "vitest";
import type { Scope } from "../core/log/rows.ts";
import { clientLimits as limits } from "../protocol/client-limits.ts";
import type { Snapshot } from "./ports.ts";
import { SnapshotReader } from "./snapshot-reader.ts";

const whole = limits.snapshotPage;
const cursors: Readonly<Record<string, string | null>> = { first: "a", a: "b", b: null };

/** A reader, and what it has asked the server for. */
function start() {
  const asked: string[] = [];
  const signals: AbortSignal[] = [];
  const reader = new SnapshotReader({
    readSnapshot: async (at, signal, scope) => {
      asked.push([at ?? "first", ...(scope?.groups ?? [])].join(" of "));
      signals.push(signal);
      return { kind: "snapshot", cursor: cursors[at ?? "first"] } as Snapshot;
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
