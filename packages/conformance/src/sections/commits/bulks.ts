import { absent, exactly, someText } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import type { Answer, Row } from "../../protocol/answers.ts";
import { rowsOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;
const create = (t: Kit, id = t.id(), data: Row = {}) => ({ action: "create", model: NOTE, id, data });
const bulk = (t: Kit, commits: unknown): Promise<Answer> => t.post("/v1/commits/bulk", { commits });
const outcomes = (answer: Answer) => rowsOf(answer).map((item) => item.code ?? item.status);

export const section: SuiteSection = {
  title: "Many commits in one request",
  cases: [
    check("[C9] Each commit has its result in its place, with the status that it would have on its own.", async (t) => {
      const [a, b] = [create(t), create(t)];
      const answer = await bulk(t, [
        { operations: [a], clientTxId: t.id() },
        { operations: [create(t, t.id(), { colour: 1 })], idempotencyKey: t.id() },
        { operations: [b], idempotencyKey: t.id() },
      ]);
      t.answered(answer, 200, {
        object: "list",
        data: [
          { httpStatus: 200, object: "commit_receipt", status: "confirmed", ops: 1 },
          { httpStatus: 400, type: "validation_error", code: "unknown_field", message: someText },
          { httpStatus: 200, object: "commit_receipt", status: "confirmed" },
        ],
      });
      t.answered(await t.get(`${notes}/${a.id}`), 200);
      t.answered(await t.get(`${notes}/${b.id}`), 200);
    }),
    check(
      "[C22] The answer to a bulk has up to 4 MiB: from the first commit on that does not fit, none is tried, and in another bulk it is.",
      async (t) => {
        const large = (n: number) => String(n).repeat(900_000);
        const records = await Promise.all(Array.from({ length: 6 }, () => t.note({ title: "one" })));
        for (const [n, { path }] of records.entries())
          t.answered(await t.patch(path, { data: { title: large(n) } }), 200);
        const commits = records.map(({ id, at }) => ({
          operations: [{ action: "update", model: NOTE, id, data: { title: "mine" }, readAt: at, onStale: "notify" }],
          clientTxId: t.id(),
        }));
        const answer = await bulk(t, commits);
        t.answered(answer, 200);
        t.that(Buffer.byteLength(answer.text) <= 4 * 1_048_576, "an answer within 4 MiB", answer.text.length);
        const notTried = Array.from({ length: 2 }, () => "answer_too_large");
        t.is(outcomes(answer), [...Array.from({ length: 4 }, () => "rejected"), ...notTried], "the outcomes");
        const statuses = rowsOf(answer).map(({ httpStatus }) => httpStatus);
        t.is(statuses, [200, 200, 200, 200, 503, 503], "the status of each commit");
        const rest = await bulk(t, commits.slice(4));
        t.is(outcomes(rest), ["rejected", "rejected"], "the outcomes of the rest");
        const told = [4, 5].map((n) => ({ notifications: [{ currentValues: exactly({ title: large(n) }) }] }));
        t.fits(rest.body.data, told, "the receipts of the rest");
      },
    ),
    check("[C9] Commits of a bulk are applied in order.", async (t) => {
      const { id, path, at } = await t.note();
      const update = (n: number) => ({
        operations: [{ action: "update", model: NOTE, id, data: { order: n } }],
        clientTxId: t.id(),
      });
      const answer = await bulk(
        t,
        Array.from({ length: 20 }, (_, i) => update(i + 1)),
      );
      t.is(
        outcomes(answer),
        Array.from({ length: 20 }, () => "confirmed"),
        "the outcomes",
      );
      t.answered(await t.get(path), 200, { data: { order: 20 } });
      const orders = (await t.entries(at, [id])).map(({ data }) => data?.order);
      t.is(
        orders,
        Array.from({ length: 20 }, (_, i) => i + 1),
        "the order in the log",
      );
    }),
    check(
      "[C1] [C9] Each commit is atomic: if one of its operations is refused, nothing of that commit is written.",
      async (t) => {
        const [a, b] = [create(t), create(t)];
        const answer = await bulk(t, [
          { operations: [a, create(t, t.id(), { colour: 1 })], clientTxId: t.id() },
          { operations: [b], clientTxId: t.id() },
        ]);
        t.answered(answer, 200, { data: [{ httpStatus: 400, param: /^operations\[1\]/ }, { httpStatus: 200 }] });
        t.refused(await t.get(`${notes}/${a.id}`), "record_not_found");
        t.answered(await t.get(`${notes}/${b.id}`), 200);
      },
    ),
    check(
      "[C9] A commit on a record of an earlier refused commit is 409 dependency_blocked, with blockedBy.",
      async (t) => {
        const { id, path } = await t.note({ title: "one" });
        const other = create(t);
        const answer = await bulk(t, [
          { operations: [other], clientTxId: t.id() },
          { operations: [{ action: "update", model: NOTE, id, data: { colour: 1 } }], clientTxId: t.id() },
          { operations: [{ action: "update", model: NOTE, id, data: { title: "two" } }], clientTxId: t.id() },
          {
            operations: [{ action: "update", model: NOTE, id: other.id, data: { title: "goes on" } }],
            clientTxId: t.id(),
          },
        ]);
        t.answered(answer, 200, {
          data: [
            { httpStatus: 200 },
            { httpStatus: 400 },
            { httpStatus: 409, type: "conflict_error", code: "dependency_blocked", blockedBy: 1 },
            { httpStatus: 200 },
          ],
        });
        t.answered(await t.get(path), 200, { data: { title: "one" } });
        t.answered(await t.get(`${notes}/${other.id}`), 200, { data: { title: "goes on" } });
      },
    ),
    check("[C9] A commit on a record of a blocked commit is blocked too.", async (t) => {
      const [a, b] = [await t.note({ title: "a" }), await t.note({ title: "b" })];
      const update = (id: string, data: object) => ({ action: "update", model: NOTE, id, data });
      const answer = await bulk(t, [
        { operations: [update(a.id, { colour: 1 })], clientTxId: t.id() },
        { operations: [update(a.id, { title: "x" }), update(b.id, { title: "x" })], clientTxId: t.id() },
        { operations: [update(b.id, { title: "y" })], clientTxId: t.id() },
      ]);
      t.is(outcomes(answer), ["unknown_field", "dependency_blocked", "dependency_blocked"], "the outcomes");
      t.answered(await t.get(b.path), 200, { data: { title: "b" } });
    }),
    check("[C9] A held commit blocks later commits on its records, because it is not confirmed.", async (t) => {
      const { id, path, at } = await t.note();
      t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
      const update = { action: "update", model: NOTE, id, data: { title: "mine" } };
      const answer = await bulk(t, [
        { operations: [{ ...update, readAt: at, onStale: "notify" }], clientTxId: t.id() },
        { operations: [update], clientTxId: t.id() },
      ]);
      t.answered(answer, 200, {
        data: [
          { httpStatus: 200, status: "rejected", success: false },
          { httpStatus: 409, code: "dependency_blocked", blockedBy: 0 },
        ],
      });
      t.answered(await t.get(path), 200, { data: { title: "theirs" } });
    }),
    check("[C9] A commit of a bulk without idempotencyKey and clientTxId is 400 missing_field.", async (t) => {
      const answer = await bulk(t, [{ operations: [create(t)] }]);
      const item = answer.status === 200 ? rowsOf(answer)[0] : answer.body;
      t.fits(item, { type: "validation_error", code: "missing_field" }, "the answer, or its first item");
    }),
    check("[I7] An Idempotency-Key header on the bulk itself is 400.", async (t) => {
      const id = t.id();
      const json = { commits: [{ operations: [create(t, id)], clientTxId: t.id() }] };
      const answer = await t.ask("POST", "/v1/commits/bulk", { json, key: t.id() });
      t.refused(answer, "invalid_idempotency_key");
      t.refused(await t.get(`${notes}/${id}`), "record_not_found");
    }),
    check("[I1] A repeated bulk gets the same receipts, and nothing is written twice.", async (t) => {
      const made = create(t);
      const commits = [
        { operations: [made], clientTxId: t.id() },
        { operations: [create(t)], idempotencyKey: t.id() },
      ];
      const first = t.answered(await bulk(t, commits), 200);
      const again = t.answered(await bulk(t, commits), 200);
      t.is(rowsOf(again), rowsOf(first), "the receipts");
      t.is((await t.entries(Number(rowsOf(first)[0]?.lastSyncId) - 1, [made.id])).length, 1, "entries");
    }),
    check("[I5] A commit in a bulk counts as the same commit sent on its own.", async (t) => {
      const [operations, clientTxId] = [[create(t)], t.id()];
      const alone = t.answered(await t.commit(operations, { clientTxId }), 200);
      const answer = t.answered(await bulk(t, [{ operations, clientTxId }]), 200, { data: [{ httpStatus: 200 }] });
      t.is((await t.commit(operations, { clientTxId })).headers["idempotent-replayed"], "true", "idempotent-replayed");
      const { httpStatus: _, ...receipt } = rowsOf(answer)[0] ?? {};
      t.is(receipt, alone.body, "the receipt in the bulk");
    }),
    check("[C10] A bulk of 0 or of 101 commits is 400; one of 100 is accepted.", async (t) => {
      const commits = (count: number) =>
        Array.from({ length: count }, () => ({ operations: [create(t)], clientTxId: t.id() }));
      t.refused(await bulk(t, []), "too_many_operations", { param: "commits" });
      t.refused(await bulk(t, commits(101)), "too_many_operations", { param: "commits" });
      const answer = t.answered(await bulk(t, commits(100)), 200);
      t.is(
        outcomes(answer),
        Array.from({ length: 100 }, () => "confirmed"),
        "the outcomes",
      );
    }),
    check("[C10] A bulk may have 1 000 operations in all, not 1 001.", async (t) => {
      const commit = (count: number) => ({
        operations: Array.from({ length: count }, () => create(t)),
        clientTxId: t.id(),
      });
      const full = Array.from({ length: 10 }, () => commit(100));
      t.refused(await bulk(t, [...full, commit(1)]), "too_many_operations");
      t.is(
        outcomes(t.answered(await bulk(t, full), 200)),
        Array.from({ length: 10 }, () => "confirmed"),
        "the outcomes",
      );
    }),
    check("[C9] An element of a bulk that is not a commit is refused in its place.", async (t) => {
      const good = { operations: [create(t)], clientTxId: t.id() };
      const answer = await bulk(t, [7, { operations: [], clientTxId: t.id() }, good]);
      t.answered(answer, 200, {
        data: [
          { httpStatus: 400, code: "invalid_body" },
          { httpStatus: 400, code: "too_many_operations" },
          { httpStatus: 200, error: absent },
        ],
      });
    }),
  ],
};
