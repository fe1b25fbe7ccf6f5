import type { Model } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import type { CommitRequest } from "../../../kernel/commits/rules/commit-request.ts";
import type { TenantState } from "../../../kernel/commits/rules/tenant-state.ts";
import { archive, commitOf, create, emptyTenant, intents, remove, update, write } from "../../../testing/tenant.ts";
import { judgeForSource, type SourceJudgement, settleIntent } from "./judge-intent.ts";
import type { SourceIntent } from "./source-intent.ts";
import { intentsOf, SOURCES, type TenantIntents } from "./tenant-intents.ts";

const MODELS: Readonly<Record<string, Model>> = {
  Task: {
    fields: {
      title: { type: "string", required: true },
      notes: { type: "string", nullable: true },
      order: { type: "number", default: 0 },
    },
    source: "ds_1",
  },
  other: { fields: { name: { type: "string" } }, source: "ds_2" },
  hosted: { fields: { name: { type: "string" } } },
};

const tenant = () => emptyTenant(MODELS);
let made = 0;
const judge = (state: TenantState, commit: CommitRequest): SourceJudgement =>
  judgeForSource(state, commit, `int_${++made}`);

function intentOf(state: TenantState, commit: CommitRequest): SourceIntent {
  const found = judge(state, commit);
  if (!("answer" in found)) throw new Error(JSON.stringify(found));
  return found.answer;
}

const kindOf = (found: SourceJudgement): string => {
  if ("waits" in found) return `waits ${found.waits}`;
  if ("answer" in found) return "intent";
  const { decision } = found.judged;
  return decision.kind === "refused" ? decision.refusal.code : decision.kind;
};

/** A later round, which finds these intents open. */
const laterRound = (state: TenantState, open: readonly SourceIntent[]): TenantState => ({
  ...state,
  modules: withIntents(state, { reserved: new Set(), open: new Set(open.map(({ id }) => id)) }),
});

const withIntents = (state: TenantState, known: Partial<TenantIntents>): TenantState["modules"] =>
  new Map([...state.modules, [SOURCES, intents({ ...intentsOf(state), ...known })]]);

test("[DS29] a commit for a source becomes an intent with what it would change, and uses no position", () => {
  const state = tenant();
  write(state, [create("hosted", "h", { name: "x" })]);
  const before = state.head.syncId;
  const intent = intentOf(
    state,
    commitOf([create("task", "a", { title: "one" }), update("hosted", "h", { name: "y" }), remove("task", "gone")]),
  );
  expect(intent).toMatchObject({ source: "ds_1", missingIds: ["gone"] });
  expect(intent.operations).toEqual([{ action: "create", model: "Task", id: "a", data: { title: "one", order: 0 } }]);
  expect([state.head.syncId, state.newReceipts.length]).toEqual([before, 1]);
});

test("[DS29] [DS160] what changes nothing at a source needs no intent, and no commit writes two sources", () => {
  const state = tenant();
  const intent = intentOf(state, commitOf([create("task", "a", { title: "one" })]));
  settleIntent(laterRound(state, [intent]), intent, { kind: "committed", records: undefined });
  const next = laterRound(state, []);
  expect(kindOf(judge(next, commitOf([archive("task", "a")])))).toBe("confirmed");
  expect(kindOf(judge(next, commitOf([update("task", "a", { title: "one" })])))).toBe("confirmed");
  expect(kindOf(judge(next, commitOf([create("hosted", "b", {})])))).toBe("confirmed");
  expect(kindOf(judge(next, commitOf([create("task", "c", { title: 1 })])))).toBe("invalid_type");
  expect(kindOf(judge(next, commitOf([create("task", "c", { title: "x" }), create("other", "c", {})])))).toBe(
    "invalid_value",
  );
});

test("[DS30] while an intent is open, its records and its names wait, and nothing else does", () => {
  const state = tenant();
  const first = commitOf([create("task", "a", { title: "one" }), create("hosted", "h", {})], { idempotencyKey: "k" });
  expect(kindOf(judge(state, first))).toBe("intent");
  expect(kindOf(judge(state, first))).toBe("waits for others");
  expect(kindOf(judge(state, commitOf([remove("hosted", "h")])))).toBe("waits for others");
  const sameName = [create("task", "z", { title: "z" })];
  expect(kindOf(judge(state, commitOf(sameName, { idempotencyKey: "k" })))).toBe("waits for others");
  expect(kindOf(judge(state, commitOf(sameName, { idempotencyKey: "k", id: "bob" })))).toBe("intent");
});

test("[DS29] an accepted commit is confirmed with what the source made of it, whatever has changed meanwhile", () => {
  const state = tenant();
  const intent = intentOf(
    state,
    commitOf([create("task", "a", { title: " one " })], {
      scope: { operations: ["task.create"], groups: ["org:org_1"] },
    }),
  );
  const round = laterRound(state, [intent]);
  write(round, [create("hosted", "between", {})]);
  const found = settleIntent(round, intent, {
    kind: "committed",
    records: [
      { model: "Task", id: "a", data: { title: "one", notes: "made", unknown: 1 } },
      { model: "Task", id: "not-in-the-commit", data: { title: "x" } },
      { model: "other", id: "a", data: { name: "x" } },
    ],
  });
  expect(kindOf(found)).toBe("confirmed");
  expect(round.records.get("task/a")?.data).toEqual({ id: "a", title: "one", notes: "made", order: 0 });
  expect([...round.records.keys()].sort()).toEqual(["hosted/between", "task/a"]);
  const body = "judged" in found ? JSON.parse(found.judged.body) : {};
  expect(body).toMatchObject({ success: true, lastSyncId: 2, ops: 1 });
  expect(kindOf(settleIntent(laterRound(round, []), intent, { kind: "refused", message: "" }))).toBe("replayed");
});

test("[DS31] what a source shows that cannot be a record leaves the commit as it was asked for", () => {
  const state = tenant();
  const intent = intentOf(state, commitOf([create("task", "a", { title: "one" })]));
  const round = laterRound(state, [intent]);
  settleIntent(round, intent, { kind: "committed", records: [{ model: "task", id: "a", data: { title: 7 } }] });
  expect(round.records.get("task/a")?.data).toEqual({ id: "a", title: "one", order: 0 });
});

test("[DS29] [DS159] a refusal has the source's words and leaves no trace", () => {
  const state = tenant();
  const commit = commitOf([create("hosted", "h", {}), create("task", "a", { title: "one" })]);
  const intent = intentOf(state, commit);
  const round = laterRound(state, [intent]);
  const found = settleIntent(round, intent, {
    kind: "refused",
    ...{ message: `taken${"x".repeat(2_000)}`, code: "taken", operation: 0, field: "title" },
  });
  expect("judged" in found && found.judged.decision).toMatchObject({
    kind: "refused",
    refusal: { code: "source_refused", param: "operations[1].data.title", source: { code: "taken" } },
  });
  expect([round.head.syncId, round.newReceipts, round.records.size]).toEqual([0, [], 0]);
});

test("[DS30] an intent that another process has ended, and that left no receipt, has an unknown outcome", () => {
  const state = tenant();
  const intent = intentOf(state, commitOf([create("task", "a", { title: "one" })]));
  expect(kindOf(settleIntent(laterRound(state, []), intent, { kind: "committed", records: undefined }))).toBe(
    "source_unavailable",
  );
  expect(state.records.size).toBe(0);
});

test("[DS31] while a model's records are being read, a write of one that is not there yet is not taken for a write of nothing", () => {
  const state = { ...tenant(), modules: withIntents(tenant(), { listed: new Set(["other"]) }) };
  expect(kindOf(judge(state, commitOf([update("task", "there", { title: "x" })])))).toBe("source_unavailable");
  expect(kindOf(judge(state, commitOf([remove("task", "there")])))).toBe("source_unavailable");
  expect(kindOf(judge(state, commitOf([remove("hosted", "nowhere")])))).toBe("confirmed");
  expect(kindOf(judge(state, commitOf([remove("other", "nowhere")])))).toBe("confirmed");
  expect(kindOf(judge(state, commitOf([create("task", "new", { title: "x" })])))).toBe("intent");
});

test("[DS29] what a source answers of a record counts once: nothing that the commit has deleted, and the last of two", () => {
  const state = tenant();
  const first = intentOf(state, commitOf([create("task", "a", { title: "one" })]));
  const records = [
    { model: "Task", id: "a", data: null },
    { model: "Task", id: "a", data: { title: "theirs" } },
  ];
  expect(kindOf(settleIntent(laterRound(state, [first]), first, { kind: "committed", records }))).toBe("confirmed");
  expect(state.records.get("task/a")?.data).toMatchObject({ title: "theirs" });
  const later = laterRound(state, []);
  const second = intentOf(later, commitOf([remove("task", "a")]));
  const stays = [{ model: "Task", id: "a", data: { title: "archived there" } }];
  expect(kindOf(settleIntent(laterRound(state, [second]), second, { kind: "committed", records: stays }))).toBe(
    "confirmed",
  );
  expect(state.records.get("task/a")).toBeNull();
});
