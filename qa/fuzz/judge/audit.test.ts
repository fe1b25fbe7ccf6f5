import { expect, test } from "vitest";
import { type AuditedEntry, auditSight, auditTenant, type Tenant } from "./audit.ts";

const entry = (syncId: number, verb: string, data: object | null): AuditedEntry => ({
  syncId,
  model: "slide",
  id: "a",
  verb,
  data: data as AuditedEntry["data"],
});
const last = { id: "a", deckId: "d1" };
const sound: Tenant = {
  name: "w",
  stamp: 4,
  log: [
    entry(1, "created", { id: "a", deckId: "d0" }),
    entry(2, "archived", { id: "a", deckId: "d0" }),
    entry(3, "updated", last),
    { ...entry(4, "created", { id: "b" }), id: "b" },
  ],
  rows: [
    { model: "slide", id: "a", syncId: 3, archivedAt: "2026-01-01T00:00:00Z", data: last },
    { model: "slide", id: "b", syncId: 4, data: { id: "b" } },
  ],
};

test("[F2] a correct tenant produces no violations", () => {
  expect(auditTenant(sound)).toEqual([]);
});

test.each<[string, Partial<Tenant>, RegExp]>([
  ["a hole", { log: sound.log.filter(({ syncId }) => syncId !== 2) }, /goes on with 3 where 2 is due/],
  ["an end before the head", { stamp: 5 }, /ends at 4, its head is 5/],
  ["a row that is missing", { rows: sound.rows.slice(1) }, /slide\/a of w is in its log and has no row/],
  ["a row that the log does not tell", { log: sound.log.slice(0, 3), stamp: 3 }, /slide\/b of w is not what/],
  [
    "a row of another value",
    { rows: [{ ...(sound.rows[0] as Tenant["rows"][number]), data: { id: "a" } }, ...sound.rows.slice(1)] },
    /slide\/a of w is not what/,
  ],
  [
    "a row that is archived no longer",
    { rows: [{ model: "slide", id: "a", syncId: 3, data: last }, ...sound.rows.slice(1)] },
    /slide\/a of w is not what/,
  ],
  ["a row of what was deleted", { log: [...sound.log, entry(5, "deleted", null)], stamp: 5 }, /slide\/a of w is not/],
])("[F2] the audit notices %s", (_, change, fault) => {
  expect(auditTenant({ ...sound, ...change })).toContainEqual(expect.stringMatching(fault));
});

test("[F1] an entry is shown only to tokens that may see its record before or after the change", () => {
  const schema = {
    models: { slide: { fields: { deckId: { type: "string" as const } }, groups: [{ kind: "deck", from: "deckId" }] } },
  };
  const faultsOf = (operations: string[], syncGroups: string[], ...positions: number[]) =>
    auditSight(schema, sound, new Map([[{ operations, syncGroups }, new Set(positions)]]));
  expect(faultsOf(["slide.update"], ["deck:d0"], 1, 2, 3)).toEqual([]);
  expect(faultsOf(["*.read"], ["org:o"], 1, 2, 3, 4)).toEqual([]);
  expect(faultsOf(["slide.*"], ["deck:d1"], 1, 3)).toEqual([expect.stringContaining("entry 1 of w")]);
  expect(faultsOf(["slide.*"], ["deck:d1"], 4)).toHaveLength(1);
  expect(faultsOf(["note.*"], ["deck:d0"], 1)).toHaveLength(1);
  expect(faultsOf(["slide.*"], ["deck:d0"], 9)).toHaveLength(1);
});

test("[F1] the former groups of an erased record are unknown, so earlier entries of it are no violation", () => {
  const log = [
    { ...entry(1, "created", null), erased: true },
    { ...entry(2, "erased", null), erased: true },
    entry(3, "created", { deckId: "d1" }),
    entry(4, "updated", { deckId: "d1" }),
  ];
  const shown = new Map([[{ operations: ["slide.*"], syncGroups: ["deck:d0"] }, new Set([1, 2, 3, 4])]]);
  const schema = {
    models: { slide: { fields: { deckId: { type: "string" } }, groups: [{ kind: "deck", from: "deckId" }] } },
  };
  expect(auditSight(schema as never, { name: "live", log, rows: [] } as never, shown)).toEqual([
    expect.stringContaining("entry 4 "),
  ]);
});
