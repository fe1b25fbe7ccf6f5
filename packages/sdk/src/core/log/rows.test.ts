import { expect, test } from "vitest";
import type { LogEntry, Verb } from "../../protocol/log/log.ts";
import { noRows, type Rows, readRange, rowChange } from "./rows.ts";
import { changeTables, lookUp } from "./tables.ts";

const at = (syncId: number, id: string, verb: Verb, title?: string): LogEntry => ({
  object: "log_entry",
  syncId,
  model: "Slide",
  id,
  verb,
  data: title === undefined ? null : { id, title },
  changedFields: verb === "updated" ? ["title"] : null,
  clientTxId: `t${syncId}`,
  clientId: null,
  transactionId: null,
  actor: "ann",
  participantKind: "user",
  claim: null,
  createdAt: `2030-01-01T00:00:0${syncId}Z`,
});
const start: Rows = {
  tables: changeTables({}, [rowChange({ model: "slide", id: "a", syncId: 6, data: { id: "a", title: "six" } })]),
  logId: "log",
  position: 4,
};
const read = (rows: Rows, from: number, to: number, ...entries: LogEntry[]) => {
  const done = readRange(rows, { from, to, entries });
  return typeof done === "string" ? done : done.rows;
};
const titles = (rows: Rows | string, id: string) =>
  typeof rows === "string" ? rows : lookUp(rows.tables, { model: "slide", id })?.data.title;

test("[R2] positions that were read before are skipped", () => {
  const rows = read(start, 4, 5, at(5, "b", "deleted")) as Rows;
  expect(read(rows, 3, 5, at(5, "b", "updated", "again"))).toBe("known");
  expect(titles(read(rows, 3, 6, at(4, "b", "created", "old"), at(5, "b", "updated", "older")), "b")).toBeUndefined();
});

test("[R2] a row of the snapshot that is newer than an entry stays", () => {
  expect(titles(read(start, 4, 5, at(5, "a", "updated", "five")), "a")).toBe("six");
  expect(titles(read(start, 4, 7, at(5, "a", "updated", "five"), at(7, "a", "updated", "seven")), "a")).toBe("seven");
});

test("[R3] a range behind a gap is not read", () => {
  expect(read(start, 5, 7, at(7, "a", "updated", "seven"))).toBe("gap");
  expect(read(noRows, 0, 1, at(1, "a", "created", "one"))).toBe("known");
});

test("[R2] every verb leaves the row that it says, and the position covers what was left out", () => {
  const rows = read(
    start,
    4,
    20,
    at(10, "b", "created", "ten"),
    at(11, "b", "archived", "ten"),
    at(12, "b", "updated", "x"),
  ) as Rows;
  expect(rows.position).toBe(20);
  expect(lookUp(rows.tables, { model: "SLIDE", id: "b" })).toEqual({
    data: { id: "b", title: "x" },
    archivedAt: "2030-01-01T00:00:011Z",
    syncId: 12,
  });
  const more = read(rows, 20, 22, at(21, "b", "unarchived", "x"), at(22, "a", "deleted")) as Rows;
  expect(lookUp(more.tables, { model: "slide", id: "b" })?.archivedAt).toBeNull();
  expect(lookUp(more.tables, { model: "slide", id: "a" })).toBeUndefined();
});

test("[ER9] an erased record is gone, entries without its values bring nothing back, and what is made later under its id is there", () => {
  const none: Rows = { tables: {}, logId: "log", position: 0 };
  const entries = [at(1, "a", "created"), at(2, "a", "updated"), at(3, "a", "archived")];
  expect(titles(read(none, 0, 3, ...entries), "a")).toBeUndefined();
  const erased = readRange(start, { from: 4, to: 7, entries: [at(7, "a", "erased")] });
  if (typeof erased === "string") throw new Error(erased);
  expect(titles(erased.rows, "a")).toBeUndefined();
  expect(erased.changes).toEqual([{ record: { model: "Slide", id: "a" }, value: undefined, erased: true }]);
  expect(titles(read(erased.rows, 7, 8, at(8, "a", "created", "another")), "a")).toBe("another");
});
