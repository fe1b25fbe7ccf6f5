import { absent, atLeast, someText } from "../../assertions/pattern.ts";
import { FAVORITE, NOTE } from "../../environment/models.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { idsOf, receiptOf, rowsOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;
const favorites = `/v1/models/${FAVORITE}`;

export const section: SuiteSection = {
  title: "Aliases",
  cases: [
    ...checkEach(
      ["overwrite", "force"],
      (onStale) => `[C12] onStale "${onStale}" overwrites newer values.`,
      async (t, onStale) => {
        const { path, at } = await t.note();
        t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
        t.answered(await t.patch(path, { data: { title: "mine" }, readAt: at, onStale }), 200, { status: "confirmed" });
        t.answered(await t.get(path), 200, { data: { title: "mine" } });
      },
    ),
    ...checkEach(
      ["notify", "flag", "merge"],
      (onStale) => `[C12] onStale "${onStale}" holds a stale write and notifies the writer.`,
      async (t, onStale) => {
        const { path, at } = await t.note();
        t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
        const held = await t.patch(path, { data: { title: "mine" }, readAt: at, onStale });
        t.answered(held, 200, {
          status: "rejected",
          success: false,
          notifications: [{ conflictingFields: ["title"] }],
        });
        t.answered(await t.get(path), 200, { data: { title: "theirs" } });
      },
    ),
    check("[C12] The aliases of onStale work in operations and in reads too.", async (t) => {
      const { id, path, at } = await t.note();
      t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
      const update = { action: "update", model: NOTE, id, data: { title: "mine" }, readAt: at };
      t.answered(await t.commit([{ ...update, onStale: "flag" }]), 200, { status: "rejected" });
      const other = { action: "create", model: NOTE, id: t.id(), data: {} };
      const reads = [{ model: NOTE, id, readAt: at, onStale: "merge" }];
      t.answered(await t.commit([other], { reads }), 200, { status: "rejected" });
      t.answered(await t.commit([{ ...update, onStale: "force" }]), 200, { status: "confirmed" });
    }),
    check("[C12] intent is another name for claim, in every write.", async (t) => {
      const { id, path } = await t.note();
      const intent = "clm_nobody";
      t.refused(await t.patch(path, { data: { title: "x" }, intent }), "claim_lost");
      t.refused(await t.remove(path, { json: { intent } }), "claim_lost");
      t.refused(await t.post(`${path}/archive`, { intent }), "claim_lost");
      const operation = { action: "update", model: NOTE, id, data: { title: "x" } };
      t.refused(await t.commit([{ ...operation, intent }]), "claim_lost");
      t.refused(await t.commit([operation], { claim: intent }), "claim_lost", { param: "operations[0].claim" });
    }),
    check("[C12] type and input are other names for action and data of an operation.", async (t) => {
      const id = t.id();
      const create = { type: "CREATE", model: NOTE, id, input: { title: "x" } };
      t.answered(await t.commit([create]), 200, { status: "confirmed" });
      t.answered(await t.commit([{ type: "UPDATE", model: NOTE, id, input: { title: "y" } }]), 200);
      t.answered(await t.get(`${notes}/${id}`), 200, { data: { title: "y" } });
      t.answered(await t.commit([{ type: "ARCHIVE", model: NOTE, id }]), 200);
      t.answered(await t.commit([{ type: "UNARCHIVE", model: NOTE, id }]), 200);
      t.answered(await t.commit([{ type: "DELETE", model: NOTE, id }]), 200, { missingIds: absent });
      t.refused(await t.get(`${notes}/${id}`), "record_not_found");
      t.answered(await t.commit([{ ...create, type: "UPSERT" }]), 400, { type: "validation_error" });
    }),
    check(
      "[I7] A key may be in the header or in the body's idempotencyKey: the same key in either place is the same request.",
      async (t) => {
        const [body, key] = [{ id: t.id(), data: { title: "x" } }, t.id()];
        const first = t.answered(await t.post(notes, body, { key }), 200);
        const again = t.answered(await t.post(notes, { ...body, idempotencyKey: key }), 200);
        t.is(again.text, first.text, "the receipt");
        t.is(again.headers["idempotent-replayed"], "true", "idempotent-replayed");
        t.answered(await t.post(notes, { ...body, idempotencyKey: key }, { key }), 200);
      },
    ),
    check("[I7] Header and body with two different keys: 400 idempotency_key_mismatch.", async (t) => {
      const body = { id: t.id(), data: {}, idempotencyKey: t.id() };
      t.refused(await t.post(notes, body, { key: t.id() }), "idempotency_key_mismatch");
    }),
    check("[C11] Favorite: the server makes an id for a create without one, and the receipt has it.", async (t) => {
      const key = t.id();
      const answer = t.answered(await t.post(favorites, { data: {} }, { key }), 200, {
        status: "confirmed",
        id: /^fav_[0-9A-Za-z]{24}$/,
      });
      const { id } = receiptOf(answer);
      t.answered(await t.get(`${favorites}/${id}`), 200, { id: someText, data: { id: String(id) } });
      t.is((await t.post(favorites, { data: {} }, { key })).text, answer.text, "the receipt of the same key");
      t.answered(await t.post(favorites, { id: null, data: {} }), 200, { status: "confirmed", id: /^fav_/ });
    }),
    check(
      "[C11] Favorite: creates in a batch may have no id, and the receipt has the first id that the server made.",
      async (t) => {
        const make = (recordId: string, more: object = {}) => ({
          ...{ action: "create", model: FAVORITE, data: { recordId } },
          ...more,
        });
        const made = async (recordId: string) => idsOf(await t.get(`${favorites}?filter[recordId]=${recordId}`));
        const [a, b, c, d, key] = [t.id(), t.id(), t.id(), t.id(), t.id()];
        const operations = [make(t.id(), { id: t.id() }), make(a, { id: null }), make(b)];
        const answer = await t.post("/v1/commits", { operations }, { key });
        t.answered(answer, 200, { status: "confirmed", ops: 3, id: /^fav_[0-9A-Za-z]{24}$/ });
        t.is(await made(a), [receiptOf(answer).id], "the first id that the server made");
        t.fits(await made(b), [/^fav_/], "the second id that the server made");
        t.is((await t.post("/v1/commits", { operations }, { key })).text, answer.text, "the receipt of the same key");
        t.is((await made(b)).length, 1, "the records of the same key");
        // An operation's own key stands for the whole operation; the receipt has no id if nothing was made again.
        const keyed = [make(c, { idempotencyKey: t.id() })];
        const once = t.answered(await t.commit(keyed), 200, { id: /^fav_/ });
        t.answered(await t.commit(keyed), 200, { status: "confirmed", id: absent });
        t.is(await made(c), [receiptOf(once).id], "the record of the operation's key");
        const bulk = await t.post("/v1/commits/bulk", { commits: [{ clientTxId: t.id(), operations: [make(d)] }] });
        t.is(await made(d), [rowsOf(bulk)[0]?.id], "the id that the server made in a bulk");
      },
    ),
    check("[C11] Every other operation needs an id.", async (t) => {
      for (const operation of [
        { action: "create", model: NOTE, data: {} },
        { action: "update", model: FAVORITE, data: {} },
        { action: "delete", model: FAVORITE },
      ])
        t.refused(await t.commit([operation]), "missing_field", { param: "operations[0].id" });
      t.refused(await t.post(notes, { id: null, data: {} }), "missing_field", { param: "id" });
    }),
    check("[C10] Favorites without ids count toward the limit of a bulk, like all operations.", async (t) => {
      const operations = Array.from({ length: 100 }, () => ({ action: "create", model: FAVORITE, data: {} }));
      const commits = Array.from({ length: 11 }, () => ({ clientTxId: t.id(), operations }));
      t.refused(await t.post("/v1/commits/bulk", { commits }), "too_many_operations", { param: "commits" });
    }),
    check("[C6] [C11] Favorite: an update without data is a confirmed no-op.", async (t) => {
      const id = t.id();
      const created = t.answered(await t.post(favorites, { id, data: {} }), 200, { lastSyncId: atLeast(1) });
      for (const json of [{}, { data: null }, { data: {} }])
        t.answered(await t.patch(`${favorites}/${id}`, json), 200, {
          status: "confirmed",
          success: true,
          missingIds: absent,
        });
      t.is((await t.entries(receiptOf(created).lastSyncId, [id])).length, 0, "entries after the create");
    }),
    check("Favorite: the body's id is null or the path's, else 400 id_mismatch.", async (t) => {
      const id = t.id();
      t.answered(await t.post(favorites, { id, data: {} }), 200);
      const path = `${favorites}/${id}`;
      t.answered(await t.patch(path, { id: null }), 200, { status: "confirmed" });
      t.answered(await t.patch(path, { id }), 200, { status: "confirmed" });
      t.refused(await t.patch(path, { id: "another" }), "id_mismatch");
    }),
    check("Favorite: one body may use several aliases.", async (t) => {
      const id = t.id();
      t.answered(await t.post(favorites, { id, data: {} }), 200);
      const body = { id, intent: null, onStale: "force", readAt: await t.head(), idempotencyKey: t.id() };
      t.answered(await t.patch(`${favorites}/${id}`, body), 200, {
        status: "confirmed",
        clientTxId: body.idempotencyKey,
      });
    }),
  ],
};
