import { expect, test } from "vitest";
import { check, type ViolationKind } from "./check.ts";
import type { Entry, Evidence, NotedChange, ToldPaper } from "./evidence.ts";

// What the checker makes of rows with large values. `check.test.ts` has all other cases.

const MIB = 2 ** 20;
const paper = { model: "paper", id: "p" } as const;
const sentence = `The record has ${20 * MIB} bytes of JSON (up to ${16 * MIB} can be read). Make its row smaller, or keep the large value elsewhere.`;

const noted = (tx: string, mark: string | null, body: string | null, bytes: number): NotedChange => ({
  ...{ ...paper, tx, mark, body, doc: null, bytes, isSql: true },
});
const entry = (syncId: number, mark: string, body: string | null, name: string): Entry => ({
  ...{ ...paper, syncId, verb: "updated", data: { id: "p", mark, body, doc: null }, name },
  ...{ actor: "database", kind: "system" },
});
const unread = (syncId: number, name: string): Entry => ({
  ...entry(syncId, "", null, name),
  data: null,
  unreadable: sentence,
});
const told = (syncId: number, mark: string, body: string): ToldPaper => ({
  ...{ by: "a stream", id: "p", syncId, data: { mark, body }, unreadable: undefined },
});
const toldUnread = { by: "a stream", id: "p", syncId: 2, data: null, unreadable: sentence };

/** A row becomes large, unreadable, is touched, and can be read again; another one stays unreadable. */
const log = [
  entry(1, "sql1", "large", "database_31"),
  unread(2, "database_32"),
  unread(3, "database_33"),
  entry(4, "sql4", "again", "database_34"),
  { ...unread(5, "database_35"), id: "q" },
];
const rows = [
  { ...paper, data: { id: "p", mark: "sql4", body: "again", doc: null }, bytes: 2 * MIB },
  { ...paper, id: "q", data: { id: "q", mark: "sql5", body: "whole", doc: null }, bytes: 20 * MIB },
];
const records = [
  { ...paper, syncId: 4, data: { id: "p", mark: "sql4", body: "again", doc: null }, unreadable: null },
  { ...paper, id: "q", syncId: 5, data: null, unreadable: 20 * MIB },
];
const list: readonly ToldPaper[] = [
  { by: "a list", id: "p", data: { mark: "sql4", body: "again" } },
  { by: "a list", id: "q", data: null, unreadable: sentence },
];
const sound: Evidence = {
  ...{ head: 5, log, rows, records, waiting: 0, unnoted: [], commits: [], transactions: [], followers: [] },
  noted: [
    noted("31", "sql1", "large", 12 * MIB),
    noted("32", "sql2", "whole", 20 * MIB),
    noted("33", "sql3", "whole", 20 * MIB),
    noted("34", "sql4", "again", 2 * MIB),
    { ...noted("35", "sql5", "whole", 20 * MIB), id: "q" },
  ],
  told: [told(1, "sql1", "large"), toldUnread, told(4, "sql4", "again")],
  lists: [list, list],
};
const kindsOf = (evidence: Evidence) => [...new Set(check(evidence).violations.map(({ kind }) => kind))];

test("[DS83] a history with large and unreadable rows produces no violations, and says how many it compared", () => {
  const { violations, coverage } = check(sound);
  expect(violations).toEqual([]);
  expect(coverage.large).toEqual({
    ...{ rows: { written: 2, verified: 2 }, unreadable: { written: 3, verified: 3 } },
    ...{ byClients: { written: 0, verified: 0 }, transactions: { written: 0, verified: 0 } },
  });
});

test.each<[string, Partial<Evidence>, ViolationKind]>([
  [
    "a large value that is another one in the log",
    { log: log.with(0, entry(1, "sql1", "cut", "database_31")) },
    "torn",
  ],
  ["a row that can be read and is said not to be", { log: log.with(0, unread(1, "database_31")) }, "torn"],
  ["an unreadable row with values in the log", { log: log.with(1, entry(2, "sql2", "whole", "database_32")) }, "torn"],
  ["a change of an unreadable row that the log lacks", { log: log.toSpliced(2, 1), head: 5 }, "unheard"],
  [
    "a record with a value of a row that cannot be read",
    { records: [{ ...records[0], unreadable: 5 } as never, ...records.slice(1)] },
    "unreadable",
  ],
  [
    "a record that can be read, and its row cannot",
    { records: records.with(1, { ...records[1], unreadable: null } as never) },
    "unreadable",
  ],
  [
    "a large value that is another one in its record",
    { rows: rows.with(0, { ...rows[0], data: { body: "other" } } as never) },
    "unequal",
  ],
  ["a stream that has another large value", { told: [told(1, "sql1", "cut")] }, "unreadable"],
  [
    "a stream that has no values and does not say why",
    { told: [{ ...toldUnread, unreadable: undefined }] },
    "unreadable",
  ],
  [
    "a stream that has values of an unreadable row",
    { told: [{ ...toldUnread, ...told(2, "sql2", "whole") }] },
    "unreadable",
  ],
  ["a stream that says something else", { told: [{ ...toldUnread, unreadable: "It is large." }] }, "unreadable"],
  [
    "a stream that says so of a row that can be read",
    { told: [{ ...told(1, "sql1", "large"), unreadable: sentence }] },
    "unreadable",
  ],
  ["a list without an unreadable row", { lists: [list.slice(0, 1)] }, "unreadable"],
  [
    "a list that names a row that can be read",
    { lists: [list.map((one) => ({ ...one, data: null, unreadable: sentence }))] },
    "unreadable",
  ],
  ["a list with a row twice", { lists: [[...list, list[0] as ToldPaper]] }, "unreadable"],
  ["a list with a row that is gone", { lists: [[...list, { ...list[0], id: "z" } as ToldPaper]] }, "unreadable"],
  [
    "a client's change of an unreadable row",
    { log: log.with(3, { ...entry(4, "w0-1", "again", "w0-1"), actor: "key", kind: "agent" }) },
    "unreadable",
  ],
])("[DS83] %s is found", (_, broken, kind) => {
  expect(kindsOf({ ...sound, ...broken })).toContain(kind);
});

test("[DS2] a large transaction counts as verified only if the log has it whole", () => {
  const ids = Array.from({ length: 60 }, (_, n) => `pack-${n}`);
  const changes = ids.map((id) => ({ ...noted("40", "sql6", "packed", MIB), id }));
  const entries = ids.map((id, n) => ({ ...entry(6 + n, "sql6", "packed", "database_40"), id }));
  const of = (log: readonly Entry[]) =>
    check({ ...sound, log, noted: [...sound.noted, ...changes] }).coverage.large.transactions;
  expect(of([...log, ...entries])).toEqual({ written: 1, verified: 1 });
  expect(of([...log, ...entries.slice(1)])).toEqual({ written: 1, verified: 0 });
});
