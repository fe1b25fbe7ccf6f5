import { expect, test } from "vitest";
import type { LogEntry, Verb } from "../../protocol/log/log.ts";
import { atPosition, continues, readRange, withAhead } from "./read-range.ts";
import { rowChange } from "./row-changes.ts";
import { noRows, type Rows } from "./rows.ts";
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
  const follows = continues(rows, { from, to, entries });
  return follows === "on" ? readRange(rows, { from, to, entries }).rows : follows;
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

test("[D61] a row that is newer than an entry is stored with the range: who read it may have died before it was stored", () => {
  const { changes } = readRange(start, { from: 4, to: 5, entries: [at(5, "a", "updated", "five")] });
  expect(changes).toEqual([{ record: { model: "Slide", id: "a" }, value: expect.objectContaining({ syncId: 6 }) }]);
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
  expect(lookUp(rows.tables, { model: "SLIDE", id: "b" })).toMatchObject({
    data: { id: "b", title: "x" },
    archivedAt: "2030-01-01T00:00:011Z",
    syncId: 12,
  });
  const more = read(rows, 20, 22, at(21, "b", "unarchived", "x"), at(22, "a", "deleted")) as Rows;
  expect(lookUp(more.tables, { model: "slide", id: "b" })?.archivedAt).toBeNull();
  expect(lookUp(more.tables, { model: "slide", id: "a" })).toBeUndefined();
});

test("[DS78] [DS123] an archive that names another time than its own is since then", () => {
  const since = "2020-01-02T03:04:05.000Z";
  const rows = read(start, 4, 20, { ...at(11, "a", "archived", "a"), archivedAt: since }) as Rows;
  expect(lookUp(rows.tables, { model: "slide", id: "a" })?.archivedAt).toBe(since);
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

const shownAhead = () => {
  const line = (id: string, syncId: number) =>
    rowChange({ model: "slide", id, syncId, data: { id, title: `${syncId}` } });
  const onDisk: Rows = { tables: changeTables({}, [line("a", 3)]), logId: "log", position: 3 };
  return withAhead(onDisk, [line("a", 6), line("b", 5), line("c", 7), line("d", 3)]);
};

test("[N15] [N60] only rows that are newer than the position are shown ahead of it, and atPosition leaves them out", () => {
  const rows = shownAhead();
  expect(["a", "b", "c", "d"].map((id) => titles(rows, id))).toEqual(["6", "5", "7", undefined]);
  expect(["a", "b", "c", "d"].map((id) => titles(atPosition(rows), id))).toEqual([
    "3",
    undefined,
    undefined,
    undefined,
  ]);
});

test("[N15] [N60] a row ahead of the position is shown until the log reaches it, and each range stores what the log has until then", () => {
  const first = readRange(shownAhead(), {
    from: 3,
    to: 5,
    entries: [at(4, "a", "updated", "4"), at(5, "b", "created", "5")],
  });
  if (typeof first === "string") throw new Error(first);
  expect(first.changes.map(({ record, value }) => [record.id, value?.data.title])).toEqual([
    ["a", "4"],
    ["b", "5"],
  ]);
  expect(["a", "b", "c"].map((id) => titles(first.rows, id))).toEqual(["6", "5", "7"]);
  const second = readRange(first.rows, { from: 5, to: 6, entries: [at(6, "a", "updated", "6")] });
  if (typeof second === "string") throw new Error(second);
  expect(second.changes.map(({ record }) => record.id)).toEqual(["a"]);
  expect(titles(atPosition(second.rows), "a")).toBe("6");
});

test("[N15] [N60] a row ahead of the position is removed if the log reaches its position without it, because it is outside the view", () => {
  const rows = read(shownAhead(), 3, 7, at(6, "a", "updated", "6")) as Rows;
  expect(["a", "b", "c"].map((id) => titles(rows, id))).toEqual(["6", undefined, undefined]);
  expect(rows.ahead).toBeUndefined();
});

test("[R39] an entry says who created a row or changed it last, and when", () => {
  const time = (syncId: number) => `2030-01-01T00:00:0${syncId}Z`;
  const by = (actor: string, entry: LogEntry): LogEntry => ({ ...entry, actor });
  const created = read(start, 4, 7, by("ben", at(7, "b", "created", "x"))) as Rows;
  const row = (rows: Rows) => lookUp(rows.tables, { model: "slide", id: "b" });
  const made = { createdAtMs: Date.parse(time(7)), createdBy: "user:ben" };
  expect(row(created)).toMatchObject(made);
  expect(row(created)?.updatedAtMs).toBeUndefined();
  const changed = read(created, 7, 9, at(8, "b", "updated", "y"), by("cleo", at(9, "b", "archived", "y"))) as Rows;
  const last = { updatedAtMs: Date.parse(time(9)), updatedBy: "user:cleo", archivedAt: time(9) };
  expect(row(changed)).toMatchObject({ ...made, ...last });
});

test("[ER10] a record that is erased and created again in one range is erased on disk, too", () => {
  const entries = [at(7, "a", "erased"), at(8, "a", "created", "another"), at(9, "a", "updated", "changed")];
  const done = readRange(start, { from: 4, to: 9, entries });
  if (typeof done === "string") throw new Error(done);
  expect(done.changes).toMatchObject([{ value: { data: { title: "changed" } }, erased: true }]);
});

test("[DS83] [DS129] a record that cannot be read any more has no values, until an entry has them again", () => {
  const large = { ...at(7, "a", "updated"), changedFields: null, unreadable: "It is too large." };
  const without = read(start, 4, 7, large) as Rows;
  expect(lookUp(without.tables, { model: "slide", id: "a" })).toBeUndefined();
  expect(titles(read(without, 7, 8, at(8, "a", "updated", "small again")), "a")).toBe("small again");
});
