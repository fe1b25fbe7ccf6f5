import type { LogEntry } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { batchesOf, bodyOf } from "./batches.ts";

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
const idsIn = (body: Buffer) =>
  (JSON.parse(String(body)) as { data: { syncId: number }[] }).data.map(({ syncId }) => syncId);

test("[W60] an event has the documented keys and no other, the model as declared, its type in lower case", () => {
  const told = (one: LogEntry) => batchesOf([one]).map((batch) => JSON.parse(String(bodyOf(batch))))[0] as unknown;
  expect(told(entry(7, { verb: "updated", changedFields: ["title"], left: false }))).toEqual({
    data: [
      {
        type: "slide.updated",
        model: "Slide",
        objectId: "s7",
        data: { id: "s7", title: "x" },
        syncId: 7,
        id: "7",
        createdAt: "2026-01-02T03:04:05.678Z",
        actor: "key_1",
        participantKind: "system",
      },
    ],
  });
  expect(told(entry(8, { verb: "deleted", data: null }))).toMatchObject({ data: [{ data: null }] });
});

test("[W60] every event is sent once and in order: up to 100 events and 1 MiB in a batch; a larger event goes alone", () => {
  expect(batchesOf([])).toEqual([]);
  const batches = batchesOf(Array.from({ length: 201 }, (_, i) => entry(5 + 2 * i)));
  expect(batches.map(({ from, to, events }) => [from, to, events.length])).toEqual([
    [5, 203, 100],
    [205, 403, 100],
    [405, 405, 1],
  ]);
  const large = (syncId: number, length: number) => entry(syncId, { data: { id: "a", title: "é".repeat(length) } });
  const sized = batchesOf([entry(1), large(2, 600_000), large(3, 300_000), large(4, 300_000), entry(5)]);
  expect(sized.map((batch) => idsIn(bodyOf(batch)))).toEqual([[1], [2], [3], [4, 5]]);
  const largest = Math.max(...sized.slice(2).map((batch) => bodyOf(batch).length));
  expect(largest > 600_000).toBe(true);
  expect(largest <= 1_048_576).toBe(true);
});
