import { receiptOf } from "../../answers.ts";
import { FAVORITE, NOTE } from "../../models.ts";
import { absent, atLeast, someText } from "../../pattern.ts";
import { check, checkEach, type SuiteSection } from "../../section.ts";

const notes = `/v1/models/${NOTE}`;
const favorites = `/v1/models/${FAVORITE}`;

export const section: SuiteSection = {
  title: "Other words for the same",
  cases: [
    ...checkEach(
      ["overwrite", "force"],
      (onStale) => `onStale "${onStale}" writes over what has moved.`,
      async (t, onStale) => {
        const { path, at } = await t.note();
        t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
        t.answered(await t.patch(path, { data: { title: "mine" }, readAt: at, onStale }), 200, { status: "confirmed" });
        t.answered(await t.get(path), 200, { data: { title: "mine" } });
      },
    ),
    ...checkEach(
      ["notify", "flag", "merge"],
      (onStale) => `onStale "${onStale}" holds a stale write and tells what moved.`,
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
    check("The aliases of onStale hold in operations and in reads too.", async (t) => {
      const { id, path, at } = await t.note();
      t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
      const update = { action: "update", model: NOTE, id, data: { title: "mine" }, readAt: at };
      t.answered(await t.commit([{ ...update, onStale: "flag" }]), 200, { status: "rejected" });
      const other = { action: "create", model: NOTE, id: t.id(), data: {} };
      const reads = [{ model: NOTE, id, readAt: at, onStale: "merge" }];
      t.answered(await t.commit([other], { reads }), 200, { status: "rejected" });
      t.answered(await t.commit([{ ...update, onStale: "force" }]), 200, { status: "confirmed" });
    }),
    check("intent means claim, in every write.", async (t) => {
      const { id, path } = await t.note();
      const intent = "clm_nobody";
      t.refused(await t.patch(path, { data: { title: "x" }, intent }), "claim_lost");
      t.refused(await t.remove(path, { json: { intent } }), "claim_lost");
      t.refused(await t.post(`${path}/archive`, { intent }), "claim_lost");
      const operation = { action: "update", model: NOTE, id, data: { title: "x" } };
      t.refused(await t.commit([{ ...operation, intent }]), "claim_lost");
      t.refused(await t.commit([operation], { claim: intent }), "claim_lost");
    }),
    check("An operation may say type and input for action and data.", async (t) => {
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
    check("A body's idempotencyKey is the header's: the same key in either place is the same request.", async (t) => {
      const [body, key] = [{ id: t.id(), data: { title: "x" } }, t.id()];
      const first = t.answered(await t.post(notes, body, { key }), 200);
      const again = t.answered(await t.post(notes, { ...body, idempotencyKey: key }), 200);
      t.is(again.text, first.text, "the receipt");
      t.is(again.headers["idempotent-replayed"], "true", "idempotent-replayed");
      t.answered(await t.post(notes, { ...body, idempotencyKey: key }, { key }), 200);
    }),
    check("Header and body with two different keys: 400 idempotency_key_mismatch.", async (t) => {
      const body = { id: t.id(), data: {}, idempotencyKey: t.id() };
      t.refused(await t.post(notes, body, { key: t.id() }), "idempotency_key_mismatch");
    }),
    check("Favorite: a create without an id makes one, and the receipt's id names it.", async (t) => {
      const answer = await t.post(favorites, { data: {} });
      t.answered(answer, 200, { status: "confirmed", id: someText });
      const { id } = receiptOf(answer);
      t.answered(await t.get(`${favorites}/${id}`), 200, { id: someText, data: { id: String(id) } });
    }),
    check("Favorite: a batch makes an id where a create has none, and its receipt's id names the first.", async (t) => {
      const create = { action: "create", model: FAVORITE, data: {} };
      const key = t.id();
      const answer = await t.post("/v1/commits", { operations: [create] }, { key });
      t.answered(answer, 200, { status: "confirmed", id: someText });
      const { id } = receiptOf(answer);
      t.answered(await t.get(`${favorites}/${id}`), 200, { id: someText, data: { id: String(id) } });
      t.is((await t.post("/v1/commits", { operations: [create] }, { key })).text, answer.text, "the receipt");
    }),
    check("Favorite: an update without data is a confirmed no-op.", async (t) => {
      const id = t.id();
      const created = t.answered(await t.post(favorites, { id, data: {} }), 200, { lastSyncId: atLeast(1) });
      t.answered(await t.patch(`${favorites}/${id}`, {}), 200, {
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
    check("Favorite: the other words of its dialect are understood in one body.", async (t) => {
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
