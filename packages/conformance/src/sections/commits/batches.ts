import { absent, atLeast } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { positionOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;
const create = (t: Kit, order = 0) => ({ action: "create", model: NOTE, id: t.id(), data: { order } });
const creates = (t: Kit, count: number) => Array.from({ length: count }, (_, i) => create(t, i));

/** A batch of ten whose seventh operation cannot be done, for one reason after the other. */
const FAULTS: readonly (readonly [what: string, code: string, fault: (t: Kit, id: string, at: number) => object])[] = [
  ["names an unknown field", "unknown_field", (_, id) => ({ action: "update", model: NOTE, id, data: { colour: 1 } })],
  [
    "has a value of the wrong type",
    "invalid_type",
    (_, id) => ({ action: "update", model: NOTE, id, data: { order: "1" } }),
  ],
  [
    "creates an existing record",
    "already_exists",
    (_, id) => ({ action: "create", model: NOTE, id, data: { title: "other" } }),
  ],
  [
    "is stale",
    "stale_context",
    (_, id, at) => ({ action: "update", model: NOTE, id, data: { title: "mine" }, readAt: at }),
  ],
  [
    "names a claim without a holder",
    "claim_lost",
    (_, id) => ({ action: "update", model: NOTE, id, data: { title: "x" }, claim: "clm_x" }),
  ],
  [
    "has a readAt in the future",
    "read_at_in_future",
    (_, id) => ({ action: "update", model: NOTE, id, data: { title: "x" }, readAt: 2 ** 52 }),
  ],
];

export const section: SuiteSection = {
  title: "Batches",
  cases: [
    check("[C1] A batch does all of its operations, in order, under one receipt and one clientTxId.", async (t) => {
      const { id: old, path } = await t.note();
      const [id, clientTxId] = [t.id(), t.id()];
      const answer = await t.commit(
        [
          { action: "create", model: NOTE, id, data: { title: "a" } },
          { action: "update", model: NOTE, id, data: { title: "b" } },
          { action: "archive", model: NOTE, id },
          { action: "delete", model: NOTE, id: old },
        ],
        { clientTxId },
      );
      t.answered(answer, 200, {
        object: "commit_receipt",
        status: "confirmed",
        ops: 4,
        clientTxId,
        missingIds: absent,
      });
      t.answered(await t.get(`${notes}/${id}`), 200, { data: { title: "b" }, syncId: positionOf(answer) - 1 });
      t.refused(await t.get(path), "record_not_found");
      const entries = await t.entries(positionOf(answer) - 4, [id, old]);
      t.is(
        entries.map(({ verb }) => verb),
        ["created", "updated", "archived", "deleted"],
        "the verbs in the log",
      );
      t.is(new Set(entries.map((entry) => entry.clientTxId)), new Set([clientTxId]), "the names in the log");
    }),
    ...checkEach(
      FAULTS,
      ([what, code]) =>
        `[C1] If the seventh of ten operations ${what}, nothing is written: ${code}, param operations[6].`,
      async (t, [, code, fault]) => {
        const { id, path, at } = await t.note();
        t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
        const before = await t.head();
        const operations: object[] = creates(t, 9);
        const ids = operations.map((one) => (one as { id: string }).id);
        operations.splice(6, 0, fault(t, id, at));
        t.refused(await t.commit(operations), code, {
          param: /^operations\[6\]/,
          body: { receipt: { status: "rejected", success: false, error: { code } } },
        });
        t.is((await t.entries(before, [...ids, id])).length, 0, "entries of the batch's records");
        t.refused(await t.get(`${notes}/${ids[0]}`), "record_not_found");
        t.answered(await t.get(path), 200, { data: { title: "theirs" } });
      },
    ),
    check("[C3] An operation sees the effect of the operations before it in the batch.", async (t) => {
      const id = t.id();
      const create = { action: "create", model: NOTE, id, data: { title: "a" } };
      const answer = await t.commit([
        create,
        { action: "delete", model: NOTE, id },
        { ...create, data: { title: "b" } },
        { action: "update", model: NOTE, id, data: { body: "own" }, readAt: 0 },
      ]);
      t.answered(answer, 200, { status: "confirmed", ops: 4, missingIds: absent });
      t.answered(await t.get(`${notes}/${id}`), 200, { data: { title: "b", body: "own" } });
      const twice = t.id();
      const two = ["a", "b"].map((title) => ({ action: "create", model: NOTE, id: twice, data: { title } }));
      t.refused(await t.commit(two), "already_exists", { param: /^operations\[1\]/ });
    }),
    ...checkEach(
      [1, 100],
      (count) => `[C10] A batch of ${count} is accepted.`,
      async (t, count) => t.answered(await t.commit(creates(t, count)), 200, { status: "confirmed", ops: count }),
    ),
    ...checkEach(
      [0, 101],
      (count) => `[C10] A batch of ${count} is 400 too_many_operations and does nothing.`,
      async (t, count) => {
        const operations = creates(t, count);
        t.refused(await t.commit(operations), "too_many_operations", { param: "operations" });
        for (const { id } of operations.slice(0, 1)) t.refused(await t.get(`${notes}/${id}`), "record_not_found");
      },
    ),
    check("[C10] A batch may have 100 premises; 101 are 400.", async (t) => {
      const { id, at } = await t.note();
      const reads = (count: number) => Array.from({ length: count }, () => ({ model: NOTE, id, readAt: at }));
      t.answered(await t.commit([create(t)], { reads: reads(100) }), 200, { status: "confirmed" });
      t.refused(await t.commit([create(t)], { reads: reads(101) }), "too_many_operations", { param: "reads" });
    }),
    check("A batch without operations, or with invalid ones, is 400, and param names them.", async (t) => {
      t.answered(await t.post("/v1/commits", {}), 400, { code: "missing_field", param: "operations" });
      t.answered(await t.post("/v1/commits", { operations: {} }), 400, { code: "invalid_type", param: "operations" });
      t.answered(await t.post("/v1/commits", { operations: [1] }), 400, { param: /^operations\[0\]/ });
    }),
    check("An operation needs one of the five actions, and a model.", async (t) => {
      const one = create(t);
      t.refused(await t.commit([{ ...one, action: undefined }]), "missing_field", { param: /^operations\[0\]/ });
      t.refused(await t.commit([{ ...one, model: undefined }]), "missing_field", { param: /^operations\[0\]/ });
      t.answered(await t.commit([{ ...one, action: "upsert" }]), 400, { param: /^operations\[0\]/ });
    }),
    check("[L3] The log entry has the transactionId of its operation.", async (t) => {
      const one = create(t);
      const answer = t.answered(await t.commit([{ ...one, transactionId: "tx-7" }]), 200);
      const [entry] = await t.entries(positionOf(answer) - 1, [one.id]);
      t.is(entry?.transactionId, "tx-7", "transactionId of the entry");
    }),
    check("A refusal wins over a hold: a batch with a held and a refused operation is refused.", async (t) => {
      const { id, path, at } = await t.note();
      t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
      const stale = { action: "update", model: NOTE, id, data: { title: "mine" }, readAt: at, onStale: "notify" };
      const wrong = { action: "create", model: NOTE, id: t.id(), data: { colour: 1 } };
      t.refused(await t.commit([stale, wrong]), "unknown_field", { param: /^operations\[1\]/ });
      const exists = { action: "create", model: NOTE, id, data: { title: "other" } };
      t.refused(await t.commit([stale, exists]), "already_exists", { param: /^operations\[1\]/ });
    }),
    check(
      "The error of a wrong payload comes before already_exists, and already_exists before stale_context.",
      async (t) => {
        const { id, path, at } = await t.note();
        t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
        const stale = { action: "update", model: NOTE, id, data: { title: "mine" }, readAt: at };
        const exists = { action: "create", model: NOTE, id, data: { title: "other" } };
        const wrong = { action: "create", model: NOTE, id: t.id(), data: { colour: 1 } };
        t.refused(await t.commit([stale, exists, wrong]), "unknown_field");
        t.refused(await t.commit([stale, exists]), "already_exists");
        t.refused(await t.commit([stale]), "stale_context");
      },
    ),
    check("[S9] One held operation holds the whole batch: nothing of it is written.", async (t) => {
      const { id, path, at } = await t.note();
      t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
      const before = await t.head();
      const one = create(t);
      const stale = { action: "update", model: NOTE, id, data: { title: "mine" }, readAt: at, onStale: "notify" };
      const held = await t.commit([one, stale]);
      t.answered(held, 200, {
        status: "rejected",
        success: false,
        notifications: [{ id }],
        lastSyncId: atLeast(before),
      });
      t.is(held.headers["holdfast-held"], "true", "holdfast-held");
      t.refused(await t.get(`${notes}/${one.id}`), "record_not_found");
      t.is((await t.entries(before, [id, one.id])).length, 0, "entries");
    }),
  ],
};
