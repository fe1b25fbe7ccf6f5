import type { LogEntry } from "@holdfast/sdk/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { batchesOf, eventOf } from "./batches.ts";

const entry = (syncId: number, rest: Partial<LogEntry> = {}): LogEntry => ({
  object: "log_entry",
  syncId,
  model: "Slide",
  id: `s${syncId}`,
  verb: "created",
  data: { id: `s${syncId}`, title: "x" },
  changedFields: null,
  clientTxId: "t",
  clientId: null,
  transactionId: null,
  actor: "key_1",
  participantKind: "system",
  claim: null,
  createdAt: "2026-01-02T03:04:05.678Z",
  ...rest,
});
const bytes = (text: string) => Buffer.byteLength(text);
const idsIn = (body: string) => (JSON.parse(body) as { data: { syncId: number }[] }).data.map(({ syncId }) => syncId);

test("[W60] an event has the documented keys and no other, the model as declared, its type in lower case", () => {
  expect(eventOf(entry(7, { verb: "updated", changedFields: ["title"], left: false }))).toEqual({
    type: "slide.updated",
    model: "Slide",
    objectId: "s7",
    data: { id: "s7", title: "x" },
    syncId: 7,
    id: "7",
    createdAt: "2026-01-02T03:04:05.678Z",
  });
  expect(eventOf(entry(8, { verb: "deleted", data: null })).data).toBeNull();
});

test("[W60] a batch has up to 100 events and knows its first and last position", () => {
  expect(batchesOf([])).toEqual([]);
  const batches = batchesOf(Array.from({ length: 201 }, (_, i) => entry(5 + 2 * i)));
  expect(batches.map(({ from, to, types }) => [from, to, types.length])).toEqual([
    [5, 203, 100],
    [205, 403, 100],
    [405, 405, 1],
  ]);
});

test("[W60] a batch is at most 1 MiB, to the byte; a larger event goes alone", () => {
  const two = [entry(1, { data: { id: "s1", title: "é".repeat(50) } }), entry(2)];
  const whole = bytes(batchesOf(two)[0]?.body ?? "");
  const cut = (batchBytes: number) => batchesOf(two, { batchEvents: 100, batchBytes }).map(({ body }) => idsIn(body));
  expect(cut(whole)).toEqual([[1, 2]]);
  expect(cut(whole - 1)).toEqual([[1], [2]]);
  expect(cut(10)).toEqual([[1], [2]]);
  const large = entry(2, { data: { id: "s2", title: "x".repeat(1_200_000) } });
  expect(batchesOf([entry(1), large, entry(3), entry(4)]).map(({ body }) => idsIn(body))).toEqual([[1], [2], [3, 4]]);
});

test("[W60] whatever the sizes: every event once, in order, and no two batches that would fit into one", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 400 }), { maxLength: 40 }),
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 300, max: 3_000 }),
      (sizes, batchEvents, batchBytes) => {
        const entries = sizes.map((size, i) => entry(i + 1, { data: { id: "a", title: "x".repeat(size) } }));
        const batches = batchesOf(entries, { batchEvents, batchBytes });
        expect(batches.flatMap(({ body }) => idsIn(body))).toEqual(entries.map(({ syncId }) => syncId));
        for (const [i, { body, types, from, to }] of batches.entries()) {
          const ids = idsIn(body);
          expect([from, to, types.length]).toEqual([ids[0], ids.at(-1), ids.length]);
          expect(types.length <= batchEvents && (bytes(body) <= batchBytes || types.length === 1)).toBe(true);
          const next = entries[to];
          if (!next || i === batches.length - 1) continue;
          const more = bytes(body) + 1 + bytes(JSON.stringify(eventOf(next)));
          expect(types.length === batchEvents || more > batchBytes).toBe(true);
        }
      },
    ),
  );
});
