import { expect, test } from "vitest";
import { WIRE_VERSION, wireHistory } from "../../packages/sdk/src/protocol/version.ts";
import { wire, wireHash } from "./wire-hash.ts";

test("the wire is that of the newest line of its history", () => {
  const hash = wireHash();
  const said = `The wire has changed: raise WIRE_VERSION in protocol/version.ts, add a line to its history, and put the new hash ${hash} beside it.`;
  expect(hash === wireHistory.at(-1)?.hash, said).toBe(true);
});

test("the history has one line for each version, in the order in which they came", () => {
  expect(wireHistory.map(({ version }) => version)).toEqual(wireHistory.map((_, at) => at + 1));
  expect(wireHistory.at(-1)?.version).toBe(WIRE_VERSION);
  expect(wireHistory.map(({ date }) => date)).toEqual(wireHistory.map(({ date }) => date).sort());
  for (const { date } of wireHistory) expect(date).toMatch(/^\d{4}-\d\d-\d\d$/);
  expect(new Set(wireHistory.map(({ hash }) => hash)).size).toBe(wireHistory.length);
});

/** The wire with one place of it changed; the place has to be there. */
function changed(path: string, change: (value: never) => unknown) {
  const copy = wire();
  const keys = path.split("/");
  const last = keys.pop() as string;
  const place = keys.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], copy);
  expect(place).toHaveProperty([last]);
  const parent = place as Record<string, unknown>;
  parent[last] = change(parent[last] as never);
  return copy;
}

const another = () => "another";
const oneMore = (list: unknown[]) => [...list, "one more"];

test.each<[string, (value: never) => unknown]>([
  ["endpoints/commit/body/properties/operations/maxItems", another],
  ["endpoints/commit/body/required", oneMore],
  ["endpoints/commit/reply/200/properties/status/anyOf", oneMore],
  ["endpoints/commit/errors", oneMore],
  ["endpoints/commit/audience", another],
  ["endpoints/commit/route", ([method]: [string, string]) => [method, "/v1/other"]],
  ["endpoints/readLog/query/wait/schema/maximum", another],
  ["endpoints/readLog/query/model/repeatable", another],
  ["snapshot/1/properties/syncId/type", another],
  ["stream/up/anyOf/0/properties/token/type", another],
  ["stream/down/anyOf/0/properties/stamp/type", another],
  ["stream/down/anyOf", (frames: unknown[]) => frames.slice(1)],
  ["stream/closeCodes/token", another],
  ["stream/protocol", another],
  ["errors/codes/rate_limited/status", another],
  ["errors/codes/rate_limited/type", another],
  ["errors/envelope/properties/code/type", another],
  ["headers/held", another],
  ["webhooks/batch/properties/data/items/properties/syncId/type", another],
  ["webhooks/headers/signature", another],
])("a change of %s changes the hash", (path, change) => {
  expect(wireHash(changed(path, change))).not.toBe(wireHash());
});

const reversed = (list: unknown[]) => [...list].reverse();
const reversedKeys = (object: object) => Object.fromEntries(Object.entries(object).reverse());

test.each<[string, (value: never) => unknown]>([
  ["endpoints", reversedKeys],
  ["endpoints/commit/body/properties", reversedKeys],
  ["endpoints/commit/body/required", reversed],
  ["stream/down/anyOf", reversed],
  ["errors/codes", reversedKeys],
])("the order of %s changes nothing", (path, reorder) => {
  expect(wireHash(changed(path, reorder))).toBe(wireHash());
});

test("sentences for people are not part of the wire", () => {
  expect(JSON.stringify(wire())).not.toMatch(/"summary":|Model name; may be repeated/);
});
