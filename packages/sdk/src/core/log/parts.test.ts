import { expect, test } from "vitest";
import type { Draft } from "../draft.ts";
import { initialState } from "../state.ts";
import { differInParts, hasParts, missingParts, partsLeft, reachedScope } from "./parts.ts";
import { PersistentMap } from "./persistent-map.ts";
import { withPartsChanged } from "./read-range.ts";
import { resync } from "./reading.ts";
import type { LogRow, Rows, Scope } from "./rows.ts";
import { scopeKey } from "./scope-key.ts";
import { scopeToRead } from "./scope-to-read.ts";
import { onSnapshotPage } from "./snapshot.ts";

const issues = (...projects: string[]): Scope => ({
  where: { issue: projects.map((projectId) => ({ projectId })), deck: { archived: false } },
});
const partsOfIssues = (...projects: string[]) => ({ ...issues(...projects), models: ["issue"] });

test("[N39] what is missing are the parts that are new, if nothing else differs", () => {
  const wanted = { models: ["issue"], where: { issue: [{ projectId: "c" }] } };
  expect(missingParts(issues("a", "b"), issues("b", "c"))).toEqual(wanted);
  expect(missingParts({ ...issues("a"), groups: ["g"] }, { ...issues("c"), groups: ["g"] })).toEqual({
    ...wanted,
    groups: ["g"],
  });
  expect(missingParts(issues("a", "b"), issues("b"))).toBeUndefined();
  const others: Scope[] = [
    {},
    { ...issues("a"), groups: ["g"] },
    { ...issues("a"), models: ["issue"] },
    { where: { issue: [{ projectId: "a" }] } },
    { where: { issue: { projectId: "a" }, deck: { archived: false } } },
    { where: { issue: [{ projectId: "a" }], deck: { archived: true } } },
  ];
  for (const other of others) {
    expect(differInParts(other, issues("c"))).toBe(false);
    expect(missingParts(other, issues("c"))).toBeUndefined();
  }
});

test("[N39] [N87] a read of parts is wanted while all of its parts are, whatever else is", () => {
  const read = missingParts(issues(), issues("a", "b")) as Scope;
  expect(hasParts(issues("c", "b", "a"), read)).toBe(true);
  expect(hasParts(issues("a"), read)).toBe(false);
  expect(hasParts({}, read)).toBe(false);
  expect(hasParts({ ...issues("a", "b"), groups: ["g"] }, read)).toBe(false);
  // All rows of a scope are no read of parts.
  expect(hasParts(issues("a", "b"), issues("a", "b"))).toBe(false);
});

test("[N39] rows with new parts have what was there and what was read, of what is still wanted", () => {
  const reached = reachedScope(issues("a", "b"), partsOfIssues("c"), issues("b", "c", "d"));
  expect(scopeKey(reached)).toBe(scopeKey(issues("b", "c")));
  expect(partsLeft(issues("a", "b"), reached)).toEqual({ issue: [{ projectId: "b" }, { projectId: "c" }] });
  expect(partsLeft(issues("b"), reached)).toEqual({});
});

test("[N39] [N88] new parts change what was not there or is older, and take away what no part has", () => {
  const row = (projectId: string, syncId: number) => ({ data: { projectId }, archivedAt: null, syncId }) as LogRow;
  const table = (rows: Record<string, LogRow>) => ({
    issue: PersistentMap.empty<LogRow>().edit((draft) => {
      for (const [id, one] of Object.entries(rows)) draft.set(id, one);
    }),
  });
  const [kept, same] = [row("b", 1), row("b", 4)];
  const rows: Rows = {
    tables: table({ kept, same, moved: row("a", 2), dropped: row("a", 3) }),
    logId: "log",
    position: 5,
    scope: issues("a", "b"),
  };
  const read = table({ same: row("b", 4), moved: row("c", 7), added: row("c", 6) });
  const models = { issue: { fields: { projectId: { type: "string" } } } } as const;
  const found = withPartsChanged(rows, { read, reached: issues("b", "c"), models });
  expect(found.rows).toMatchObject({ position: 5, scope: issues("b", "c") });
  const shown = Object.fromEntries(found.rows.tables.issue?.entries() ?? []);
  expect(shown).toEqual({ kept, same, moved: row("c", 7), added: row("c", 6) });
  expect([shown.kept, shown.same]).toEqual([kept, same]);
  expect(shown.same).toBe(same);
  // `moved` is in no part as it was, and in one as it was read: the last change counts.
  expect(found.changes.map(({ record, value }) => [record.id, value?.syncId]).sort()).toEqual([
    ["added", 6],
    ["dropped", undefined],
    ["moved", undefined],
    ["moved", 7],
  ]);
});

test("[N39] the rest of a part is not added to rows that have gone on since the read began: it begins anew", () => {
  const fields = { projectId: { type: "string" } } as const;
  const initial = initialState({ schema: { models: { issue: { fields } } }, paused: false, sendAtMost: 10 });
  const facts = { logId: "log", rowsVersion: 1, viewHash: "view" };
  const scopeOfIssues = (...projects: string[]): Scope => ({
    where: { issue: projects.map((projectId) => ({ projectId })) },
  });
  const draftAt = (position: number): Draft => {
    const rows: Rows = { ...facts, tables: {}, position, scope: scopeOfIssues("a") };
    const partial = { ...facts, stamp: 5, cursor: "next", tables: {}, scope: readScope, isKept: false };
    return {
      state: {
        ...{ ...initial, life: "running", lead: "yes", generation: 1, owner: "o", tokenOwner: "o", rows },
        scope: scopeOfIssues("a", "b"),
        reading: { ...initial.reading, under: "snapshot", resync: "parts", partial },
      },
      effects: [],
      now: 0,
      roll: 0,
    };
  };
  const readScope = missingParts(scopeOfIssues("a"), scopeOfIssues("a", "b")) as Scope;
  const lines = [{ model: "issue", id: "i", data: { projectId: "b" }, syncId: 4, createdAt: "2030-01-01T00:00:00Z" }];
  const page = {
    ...facts,
    stamp: 5,
    begin: "next",
    cursor: null,
    scope: readScope,
    lines,
    owner: "o",
    models: ["issue"],
  };
  const shownAfter = (draft: Draft) => {
    onSnapshotPage(draft, { ...page, type: "snapshotRead", now: 0, roll: 0 } as never);
    const { rows, reading } = draft.state;
    return [rows.tables.issue?.size ?? 0, rows.position, reading.resync, reading.partial];
  };
  expect(shownAfter(draftAt(5))).toEqual([1, 5, "no", undefined]);
  expect(shownAfter(draftAt(6))).toEqual([0, 6, "parts", undefined]);
  // Nor to rows that are to be read again as a whole: nothing would end a read of parts that nothing wants.
  for (const kind of ["anew", "suspect"] as const) {
    const draft = draftAt(5);
    resync(draft, kind);
    expect([draft.state.reading.resync, draft.state.reading.partial]).toEqual([kind, undefined]);
    expect(scopeToRead(draft.state)).toEqual(scopeOfIssues("a", "b"));
  }
});
