import { expect, test } from "vitest";
import {
  archive,
  commitOf,
  create,
  emptyTenant,
  MODELS,
  outcomeOf,
  remove,
  unarchive,
  update,
  write,
  written,
} from "../../../testing/tenant.ts";
import type { CommitOperation } from "./commit-request.ts";

const DENIED = "capability_scope_denied";
const deck1 = { operations: ["Slide.*"], groups: ["deck:1"] };

/** Slide `a` in deck 1, `b` in deck 2, `n` in none, and a record of another model. */
function decks() {
  const state = emptyTenant();
  for (const [id, data] of [
    ["a", { deckId: "1", title: "A" }],
    ["b", { deckId: "2", title: "B" }],
    ["n", { title: "N" }],
  ] as const)
    write(state, [create("slide", id, data)]);
  write(state, [create("whole", "w", { a: "1" })]);
  return state;
}

test.each([
  ["create within", create("slide", "x", { deckId: "1" }), "confirmed"],
  ["create elsewhere", create("slide", "x", { deckId: "2" }), DENIED],
  ["create without the field that names its group", create("slide", "x", {}), "missing_field"],
  ["create what exists elsewhere", create("slide", "b", { deckId: "1" }), DENIED],
  ["create what exists within", create("slide", "a", { deckId: "1" }), "already_exists"],
  ["update within", update("slide", "a", { title: "x" }), "confirmed"],
  ["update elsewhere", update("slide", "b", { title: "x" }), DENIED],
  ["take from elsewhere", update("slide", "b", { deckId: "1" }), DENIED],
  ["send elsewhere", update("slide", "a", { deckId: "2" }), DENIED],
  ["take out of every group", update("slide", "a", { deckId: null }), "invalid_type"],
  ["update of a record in no group", update("slide", "n", { title: "x" }), DENIED],
  ["update of what is missing", update("slide", "zz", { title: "x" }), "confirmed"],
  ["delete within", remove("slide", "a"), "confirmed"],
  ["delete elsewhere", remove("slide", "b"), DENIED],
  ["archive within", archive("slide", "a"), "confirmed"],
  ["archive elsewhere", archive("slide", "b"), DENIED],
  ["unarchive elsewhere", unarchive("slide", "b"), DENIED],
  ["another model", update("whole", "w", { a: "2" }), DENIED],
  ["an unknown model", update("nothing", "w", { a: "2" }), DENIED],
] as [string, CommitOperation, string][])("[K3] a token of one deck: %s", (_, operation, outcome) => {
  const state = decks();
  expect(outcomeOf(write(state, [operation], { scope: deck1 }))).toBe(outcome);
});

test.each([
  ["slide.create", ["create"]],
  ["slide.update", ["update", "archive", "unarchive"]],
  ["slide.delete", ["delete"]],
  ["slide.*", ["create", "update", "archive", "unarchive", "delete"]],
  ["*.*", ["create", "update", "archive", "unarchive", "delete"]],
  ["slide.read", []],
  ["*.read", []],
  ["claim.preempt", []],
])("[K2] %s covers %j", (operation, allowed) => {
  const state = decks();
  const scope = { operations: [operation], groups: ["org:org_1"] };
  const tried = [
    create("slide", "x", {}),
    update("slide", "a", { title: "x" }),
    archive("slide", "a"),
    unarchive("slide", "a"),
    remove("slide", "b"),
  ];
  const done = tried.filter((one) => outcomeOf(write(state, [one], { scope })) === "confirmed");
  expect(done.map(({ action }) => action)).toEqual(allowed);
});

test("[K4] a denial names the missing scope only in groups that the writer may know", () => {
  const state = decks();
  const lacked = (operation: CommitOperation) => {
    const { decision, body } = write(state, [operation], { scope: deck1, single: true });
    if (decision.kind !== "refused") throw new Error("It was allowed.");
    expect(JSON.parse(body).error.requiredCapability).toEqual(decision.refusal.requiredCapability);
    return decision.refusal.requiredCapability;
  };
  expect(lacked(update("slide", "b", { title: "x" }))).toEqual({
    can: "update",
    model: "Slide",
    syncGroup: "org:org_1",
    scope: "Slide.update",
  });
  expect(lacked(create("slide", "x", { deckId: "3" }))).toMatchObject({ can: "create", syncGroup: "deck:3" });
  expect(lacked(remove("whole", "w"))).toMatchObject({ scope: "whole.delete", syncGroup: "deck:1" });
});

test.each([
  [
    "a model without groups",
    create("whole", "x", { a: "1" }),
    'The token\'s scope does not cover whole.create in org:org_1. The model "whole" has no "groups", so its records belong to the whole organization.',
  ],
  [
    "a model that is not in the pushed schema",
    create("task", "x", {}),
    'The token\'s scope does not cover task.create in deck:1. The pushed schema has no model "task".',
  ],
  [
    "a record in no group that the token has",
    create("slide", "x", { deckId: "3" }),
    "The token's scope does not cover Slide.create in deck:3.",
  ],
] as [string, CommitOperation, string][])(
  "[K13] the message of a denial says what is wrong with %s",
  (_, operation, message) => {
    const scope = { operations: ["slide.*", "whole.*"], groups: ["deck:1"] };
    const { decision } = write(decks(), [operation], { scope });
    expect(decision).toMatchObject({ refusal: { code: DENIED, message } });
  },
);

test("[K3] scope is checked against the record as earlier operations of the commit leave it", () => {
  const both = { operations: ["slide.*"], groups: ["deck:1", "deck:2"] };
  const moves = [update("slide", "a", { deckId: "2" }), update("slide", "a", { title: "x" })];
  expect(outcomeOf(write(decks(), moves, { scope: both }))).toBe("confirmed");
  expect(
    outcomeOf(
      write(decks(), [create("slide", "x", { deckId: "1" }), update("slide", "x", { deckId: "3" })], { scope: both }),
    ),
  ).toBe(DENIED);
  expect(
    outcomeOf(write(decks(), [remove("slide", "a"), create("slide", "a", { deckId: "1" })], { scope: deck1 })),
  ).toBe("confirmed");
});

test.each([
  ["a row within", { model: "slide", id: "a" }, "confirmed"],
  ["a row that is missing", { model: "slide", id: "zz" }, "confirmed"],
  ["a row elsewhere", { model: "slide", id: "b" }, DENIED],
  ["a row of another model", { model: "whole", id: "w" }, DENIED],
  ["its group", { group: "deck:1" }, "confirmed"],
  ["another group", { group: "deck:2" }, DENIED],
  ["the organization", { group: "org:org_1" }, DENIED],
])("[K5] a premise on %s", (_, premise, outcome) => {
  const state = decks();
  const reads = [{ ...premise, readAt: state.head.syncId }];
  const judged = write(state, [create("slide", "x", { deckId: "1" })], { scope: deck1, reads });
  expect(outcomeOf(judged)).toBe(outcome);
  if (outcome === DENIED) expect(judged.decision).toMatchObject({ refusal: { param: "reads[0]" } });
});

test("[K5] a response reveals nothing about a record outside of the token's view", () => {
  const state = decks();
  const { syncId } = state.head;
  write(state, [remove("slide", "b")], { id: "bob" });
  // To this writer the record never was: it is missing, not stale.
  const gone = write(state, [update("slide", "b", { title: "x" }, { readAt: syncId, onStale: "notify" })], {
    scope: deck1,
  });
  expect(JSON.parse(gone.body)).toMatchObject({ status: "confirmed", missingIds: ["b"] });
  const premise = [{ model: "slide", id: "b", readAt: syncId, onStale: "notify" as const }];
  expect(outcomeOf(write(state, [create("slide", "x", { deckId: "1" })], { scope: deck1, reads: premise }))).toBe(
    "confirmed",
  );
  const [, held] = written(
    state,
    commitOf([update("slide", "a", { title: "z" })], { id: "bob" }),
    commitOf([create("slide", "y", { deckId: "1" })], {
      scope: deck1,
      reads: [{ group: "deck:1", readAt: syncId, onStale: "notify" }],
    }),
  );
  expect(JSON.parse(held?.body ?? "{}").notifications).toEqual([
    expect.objectContaining({ group: "deck:1", model: "Slide", id: "a", writtenBy: "user:bob" }),
  ]);
});

test("[K5] a premise reports that a group has changed, but not the model if it is outside of the token's view", () => {
  const note = { fields: { deckId: { type: "string" as const } }, groups: [{ kind: "deck", from: "deckId" }] };
  const state = emptyTenant({ ...MODELS, note });
  write(state, [create("note", "secret", { deckId: "1" })], { id: "bob" });
  const { body } = write(state, [create("slide", "y", { deckId: "1" })], {
    scope: deck1,
    reads: [{ group: "deck:1", readAt: 0, onStale: "notify" }],
  });
  expect(JSON.parse(body).notifications).toEqual([
    expect.objectContaining({ group: "deck:1", model: "", id: "", writtenBy: "", observedSyncId: 1 }),
  ]);
});
