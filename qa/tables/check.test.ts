import { expect, test } from "vitest";
import { check, type ViolationKind } from "./check.ts";
import type { Entry, Evidence, NotedChange } from "./evidence.ts";

const entry = (syncId: number, id: string, mark: string | null, name: string): Entry => ({
  ...{ syncId, model: "slide", id, verb: mark === null ? "deleted" : "updated", data: mark && { id, mark }, name },
  ...(name.startsWith("database_") ? { actor: "database", kind: "system" } : { actor: "key", kind: "agent" }),
});
const noted = (tx: string, id: string, mark: string | null, isSql = true): NotedChange => ({
  ...{ tx, model: "slide", id, mark, isSql },
});
const written = (name: string, syncId: number, ids: readonly string[]) => ({
  ...{ name, operations: ids.map((id) => ({ model: "slide", id })), asked: syncId, answered: syncId + 0.5 },
  ...{ receipt: { lastSyncId: syncId }, changesMore: true as const },
});

/** A commit, a transaction in SQL on the same row and another, a deletion, a refused commit, a transaction undone. */
const log = [
  entry(1, "a", "w0-1", "w0-1"),
  entry(2, "a", "sql0", "database_20"),
  entry(3, "b", "sql0", "database_20"),
  entry(4, "b", null, "database_21"),
  entry(5, "a", "w0-2", "w0-2"),
  entry(6, "c", "w0-2", "w0-2"),
];
const sound: Evidence = {
  head: 6,
  log,
  records: [
    { model: "slide", id: "a", syncId: 5, data: { id: "a", mark: "w0-2" } },
    { model: "slide", id: "c", syncId: 6, data: { id: "c", mark: "w0-2" } },
  ],
  rows: [
    { model: "slide", id: "a", data: { id: "a", mark: "w0-2" } },
    { model: "slide", id: "c", data: { id: "c", mark: "w0-2" } },
  ],
  noted: [
    noted("19", "a", "w0-1", false),
    noted("20", "a", "sql-first"),
    noted("20", "a", "sql0"),
    noted("20", "b", "sql0"),
    noted("21", "b", null),
    noted("22", "c", "w0-2", false),
    noted("22", "a", "w0-2", false),
  ],
  unnoted: ["note"],
  waiting: 0,
  commits: [
    written("w0-1", 1, ["a"]),
    written("w0-2", 6, ["a"]),
    { name: "w0-3", operations: [{ model: "slide", id: "d" }], asked: 7, declined: "source_refused" },
  ],
  transactions: [
    { mark: "sql0", outcome: "committed", wrote: true },
    { mark: "sql1", outcome: "undone", wrote: true },
    { mark: "sql2", outcome: "unknown", wrote: true },
  ],
  followers: [{ positions: [1, 2, 3, 4, 5, 6], faults: [] }],
  ...{ told: [], lists: [] },
};

const kindsOf = (evidence: Evidence) => [...new Set(check(evidence).violations.map(({ kind }) => kind))];
const replaced = (at: number, entry: Entry) => log.with(at - 1, entry);

test("[DS19] a row that was there before and that no one has changed has no entry", () => {
  const data = { id: "z", mark: null };
  const before = (id: string) => ({ model: "slide", id, syncId: 0, data: { ...data, id } });
  const row = { model: "slide", id: "z", data };
  const untouched = { ...sound, records: [...sound.records, before("z")], rows: [...sound.rows, row] };
  expect(check(untouched).violations).toEqual([]);
  const back = { ...sound, records: [...sound.records, before("b")], rows: [...sound.rows, { ...row, id: "b" }] };
  expect(check(back).violations.map(({ kind }) => kind)).toContain("log");
});

test("[DS19] [L1] a correct history produces no violations", () => {
  expect(check(sound).violations).toEqual([]);
  const none = { written: 0, verified: 0 };
  const large = { rows: none, byClients: none, unreadable: none, transactions: none };
  expect(check(sound).coverage).toEqual({ large, rows: 2, transactions: 2, contested: 1, declined: 1, besides: 1 });
});

test.each<[string, Partial<Evidence>, ViolationKind]>([
  ["a change that was never collected", { waiting: 1 }, "waiting"],
  ["a row with another value", { rows: sound.rows.map((row) => ({ ...row, data: { id: row.id } })) }, "unequal"],
  ["a row without a record", { rows: [...sound.rows, { model: "slide", id: "z", data: {} }] }, "unequal"],
  ["a record without a row", { rows: sound.rows.slice(1) }, "unequal"],
  ["an entry lost", { log: log.slice(0, 5), head: 5 }, "log"],
  ["a transaction that the log does not have", { noted: [...sound.noted, noted("23", "e", "sql3")] }, "unheard"],
  ["a row of a transaction missing", { noted: sound.noted.toSpliced(4, 0, noted("20", "e", "sql0")) }, "torn"],
  ["a transaction with its first value", { log: replaced(2, entry(2, "a", "sql-first", "database_20")) }, "torn"],
  [
    "something between the rows of a transaction",
    { log: [log[0], log[1], { ...log[3], syncId: 3 }, { ...log[2], syncId: 4 }, log[4], log[5]] as Entry[] },
    "torn",
  ],
  ["a transaction that never was", { log: [...log, entry(7, "q", "sql9", "database_29")], head: 7 }, "invented"],
  ["another author", { log: replaced(4, { ...(log[3] as Entry), actor: "another" }) }, "author"],
  [
    "two changes of a row in the other order",
    {
      noted: [sound.noted[1], sound.noted[2], sound.noted[3], sound.noted[0], ...sound.noted.slice(4)] as NotedChange[],
    },
    "order",
  ],
  [
    "a change of a row that the log does not have",
    { noted: [...sound.noted, noted("29", "a", "w9-9", false)] },
    "order",
  ],
  [
    "a refused commit whose value is in a table",
    { noted: [...sound.noted, noted("29", "d", "w0-3", false)] },
    "undone",
  ],
  ["a refused commit in the log", { log: [...log, entry(7, "d", "w0-3", "w0-3")], head: 7 }, "undone"],
  ["a transaction that was undone, in the log", { log: [...log, entry(7, "d", "sql1", "w0-9")], head: 7 }, "undone"],
  [
    "a committed transaction that the database lost",
    { transactions: [{ mark: "sql7", outcome: "committed", wrote: true }] },
    "durable",
  ],
])("[DS19] %s is found", (_, broken, kind) => {
  expect(kindsOf({ ...sound, ...broken })).toContain(kind);
});

test("[DS19] a row that only SQL notes shows the order by what each change found", () => {
  const note = (syncId: number, mark: string, name: string, found: string | null): Entry => ({
    ...entry(syncId, "n", mark, name),
    model: "note",
    data: { id: "n", mark, found },
  });
  const of = (entries: readonly Entry[]): Evidence => ({
    ...{ head: 3, log: entries, rows: [], records: [], commits: [], transactions: [], followers: [], waiting: 0 },
    ...{ told: [], lists: [], unnoted: ["note"], noted: [{ ...noted("30", "n", "sql0"), model: "note" }] },
  });
  const right = [
    note(1, "w0-1", "w0-1", null),
    note(2, "sql0", "database_30", "w0-1"),
    note(3, "w0-2", "w0-2", "w0-1"),
  ];
  const wrong = [note(1, "w0-1", "w0-1", null), note(2, "w0-2", "w0-2", null), note(3, "sql0", "database_30", "w0-1")];
  const orders = (entries: readonly Entry[]) => check(of(entries)).violations.filter(({ kind }) => kind === "order");
  expect(orders(right)).toEqual([]);
  expect(orders(wrong)).toHaveLength(1);
});
