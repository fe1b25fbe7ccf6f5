import { NOTE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";

const notes = `/v1/models/${NOTE}`;

/** An update of a new note, this tenant's log, and a name that no log has. */
async function scene(t: Kit) {
  const { id, path, at } = await t.note();
  const own = String(t.answered(await t.get("/v1/log?limit=1"), 200).body.logId);
  const update = () => ({ action: "update", model: NOTE, id, data: { title: t.id() } });
  return { id, path, at, own, other: `${own}x`, update };
}

export const section: SuiteSection = {
  title: "A write names its log",
  cases: [
    check("[C18] A write that names its tenant's log is accepted; null counts as absent.", async (t) => {
      const { own, update } = await scene(t);
      for (const logId of [own, null])
        t.answered(await t.commit([update()], { logId }), 200, { status: "confirmed", logId: own });
      t.answered(await t.commit([update()], { logId: 7 }), 400, { code: "invalid_type" });
    }),
    check("[C18] A write of any kind that names another log is 409 other_log and writes nothing.", async (t) => {
      const { id, path, at, other: logId, update } = await scene(t);
      const [one, two] = [t.id(), t.id()];
      for (const answer of [
        await t.commit([update()], { logId }),
        await t.commit([{ action: "create", model: NOTE, id: one, data: {} }], { logId }),
        await t.post(notes, { id: two, data: {}, logId }),
        await t.patch(path, { data: { title: "x" }, logId }),
        await t.remove(path, { json: { logId } }),
        await t.post(`${path}/archive`, { logId }),
      ])
        t.refused(answer, "other_log", { param: "logId" });
      t.is(await t.entries(at, [id, one, two]), [], "entries");
    }),
    check("[C18] In a bulk each commit names its own log.", async (t) => {
      const { own, other, update } = await scene(t);
      const create = { action: "create", model: NOTE, id: t.id(), data: {} };
      const commits = [
        { clientTxId: t.id(), logId: own, operations: [update()] },
        { clientTxId: t.id(), logId: other, operations: [create] },
        { clientTxId: t.id(), operations: [update()] },
      ];
      t.answered(await t.post("/v1/commits/bulk", { commits }), 200, {
        data: [{ httpStatus: 200 }, { httpStatus: 409, code: "other_log" }, { httpStatus: 200 }],
      });
    }),
    check("[C18] [C26] A used key gets its first answer, whatever log the write names.", async (t) => {
      const { own, other, update } = await scene(t);
      const [operations, key] = [[update()], t.id()];
      const first = t.answered(await t.commit(operations, { logId: own }, { key }), 200);
      for (const logId of [own, other, undefined]) {
        const again = await t.commit(operations, { logId }, { key });
        t.is([again.text, again.headers["idempotent-replayed"]], [first.text, "true"], "receipt and header");
      }
    }),
    check(
      "[C18] [C26] A batch of operations with used keys is confirmed, whatever log it names; with a new operation it is 409 other_log.",
      async (t) => {
        const { other: logId } = await scene(t);
        const create = () => ({ action: "create", model: NOTE, id: t.id(), data: {}, idempotencyKey: t.id() });
        const [known, fresh] = [create(), create()];
        t.answered(await t.commit([known]), 200);
        t.answered(await t.commit([known], { logId }), 200, { status: "confirmed" });
        t.refused(await t.commit([known, fresh], { logId }), "other_log");
      },
    ),
  ],
};
