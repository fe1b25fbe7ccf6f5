import { applyOperation, type JsonObject, jsonEqual, type Row, type Verb } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { type Inverse, type InvertOptions, invert, type PastChange } from "./invert.ts";

const usual: InvertOptions = { created: "delete", overwrite: false };
const MODEL = { fields: { a: { type: "string" }, b: { type: "string" }, c: { type: "string" } } } as const;
const MOMENT = { now: "2026-01-01T00:00:00.000Z", by: undefined };
const VERB: Readonly<Record<Inverse["action"], Verb>> = {
  ...{ create: "created", update: "updated", delete: "deleted" },
  ...{ archive: "archived", unarchive: "unarchived" },
};

/** A record and its history, as a server keeps them. */
function record() {
  let row: Row | undefined;
  const changes: PastChange[] = [];
  return {
    row: () => row,
    changes,
    write({ action, data }: Inverse, selected: boolean) {
      if ((action === "create") === (row !== undefined)) return;
      const before = row;
      const next = applyOperation(row, { action, id: "r", data, changes: undefined }, MODEL, MOMENT);
      const changedFields = Object.keys(data ?? {}).filter(
        (field) => !jsonEqual(before?.data[field] ?? null, next?.data[field] ?? null),
      );
      if (action === "update" && changedFields.length === 0) return;
      if (row && next && action !== "update" && Boolean(row.archivedAt) === Boolean(next.archivedAt)) return;
      row = next;
      changes.push({
        verb: VERB[action],
        data: next ? next.data : null,
        changedFields: action === "update" ? changedFields : null,
        isArchived: Boolean(next?.archivedAt),
        selected,
      });
    },
  };
}

/** What is known of the changes from the first selected one on. */
function pastOf(changes: readonly PastChange[]) {
  const first = changes.findIndex(({ selected }) => selected);
  return { prior: first > 0 ? changes[first - 1] : undefined, changes: first < 0 ? [] : changes.slice(first) };
}
const shown = (row: Row | undefined) => row && { ...row, archivedAt: Boolean(row.archivedAt), data: values(row.data) };
const values = (data: JsonObject) => Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));

/** Numbers that are the same in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

function anyWrite(next: (below: number) => number): Inverse {
  const action = (["create", "update", "update", "update", "delete", "archive", "unarchive"] as const)[
    next(7)
  ] as Inverse["action"];
  if (action !== "create" && action !== "update") return { action };
  const fields = ["a", "b", "c"].filter(() => next(2) === 0);
  return {
    action,
    data: Object.fromEntries((fields.length > 0 ? fields : ["a"]).map((field) => [field, `v${next(4)}`])),
  };
}

test("[RV1] whatever a run did, alone, is taken back; and that is taken back too", () => {
  for (let seed = 1; seed <= 20_000; seed++) {
    const next = numbers(seed);
    const one = record();
    for (let i = next(4); i > 0; i--) one.write(anyWrite(next), false);
    const before = shown(one.row());
    for (let i = 1 + next(5); i > 0; i--) one.write(anyWrite(next), true);
    const after = shown(one.row());
    const { operations, kept } = invert(pastOf(one.changes), usual);
    const ran = one.changes.length;
    for (const operation of operations) one.write(operation, false);
    expect([seed, kept, shown(one.row())]).toEqual([seed, undefined, before]);
    const own = one.changes.map((change, i) => ({ ...change, selected: i >= ran }));
    const again = invert(pastOf(own), usual);
    for (const operation of again.operations) one.write(operation, false);
    expect([seed, shown(one.row())]).toEqual([seed, after]);
  }
});

test("[RV2] what others set since is never overwritten, and what they did not touch is taken back", () => {
  for (let seed = 1; seed <= 20_000; seed++) {
    const next = numbers(seed);
    const one = record();
    one.write({ action: "create", data: { a: "0", b: "0", c: "0" } }, false);
    const setters = new Map<string, boolean>();
    const were = new Map<string, string>();
    for (let i = 2 + next(6); i > 0; i--) {
      const selected = next(2) === 0;
      const field = ["a", "b", "c"][next(3)] as string;
      const value = `v${next(1_000)}`;
      const now = String(one.row()?.data[field]);
      if (now === value) continue;
      if (!(selected && setters.get(field))) were.set(field, now);
      setters.set(field, selected);
      one.write({ action: "update", data: { [field]: value } }, selected);
    }
    const { operations, kept } = invert(pastOf(one.changes), usual);
    const others = { ...one.row()?.data };
    for (const operation of operations) one.write(operation, false);
    for (const [field, ours] of setters)
      expect([seed, field, one.row()?.data[field]]).toEqual([seed, field, ours ? were.get(field) : others[field]]);
    for (const field of Object.keys(kept?.fields ?? {})) expect([seed, setters.get(field)]).toEqual([seed, false]);
  }
});

const created = { verb: "created", data: { id: "r", a: "0" }, changedFields: null, isArchived: false } as const;
const set = (a: string, selected: boolean): PastChange => ({
  ...{ verb: "updated", data: { id: "r", a }, changedFields: ["a"], isArchived: false, selected },
});

test("[RV2] a field that others set since is named with three values; with overwrite it is taken back", () => {
  const past = { prior: created, changes: [set("1", true), set("2", false)] };
  expect(invert(past, usual)).toEqual({
    operations: [],
    kept: { why: "changed", fields: { a: { before: "0", set: "1", now: "2" } } },
  });
  expect(invert(past, { ...usual, overwrite: true }).operations).toEqual([{ action: "update", data: { a: "0" } }]);
});

test("[RV3] a record that was created is deleted or archived, unless others have written to it", () => {
  const own = { prior: undefined, changes: [{ ...created, selected: true }] };
  expect(invert(own, usual).operations).toEqual([{ action: "delete" }]);
  expect(invert(own, { ...usual, created: "archive" }).operations).toEqual([{ action: "archive" }]);
  const others = { prior: undefined, changes: [{ ...created, selected: true }, set("1", false)] };
  expect(invert(others, usual)).toEqual({ operations: [], kept: { why: "changed", fields: {} } });
  expect(invert(others, { ...usual, overwrite: true }).operations).toEqual([{ action: "delete" }]);
});

test("[RV4] what the log does not have, and what was erased, stays", () => {
  expect(invert({ prior: undefined, changes: [set("1", true)] }, usual).kept).toEqual({ why: "unknown" });
  const gone = { ...created, data: null };
  expect(invert({ prior: gone, changes: [set("1", true)] }, usual).kept).toEqual({ why: "erased" });
  const erased: PastChange = { verb: "erased", data: null, changedFields: null, isArchived: false, selected: false };
  expect(invert({ prior: created, changes: [set("1", true), erased] }, usual).kept).toEqual({ why: "erased" });
});
