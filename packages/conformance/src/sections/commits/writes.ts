import { absent, atLeast, row } from "../../assertions/pattern.ts";
import { NOTE, STRICT } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { dataOf, positionOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;
const stricts = `/v1/models/${STRICT}`;
const verbsOf = async (t: Kit, after: number, id: string) => (await t.entries(after, [id])).map(({ verb }) => verb);

export const section: SuiteSection = {
  title: "Create, update, delete",
  cases: [
    check("A create writes the record and one log entry, created.", async (t) => {
      const { id, path, at, deckId } = await t.note({ title: "new" });
      t.answered(await t.get(path), 200, { id, data: { id, deckId, title: "new" }, syncId: at });
      t.is(await verbsOf(t, at - 1, id), ["created"], "the verbs in the log");
    }),
    check("[C11] A create needs an id: without one it is 400 missing_field.", async (t) => {
      t.refused(await t.post(notes, { data: { title: "x" } }), "missing_field", { param: "id" });
      const answer = await t.commit([{ action: "create", model: NOTE, data: {} }]);
      t.refused(answer, "missing_field", { param: /^operations\[0\]/ });
    }),
    check("data.id has to be the id of the record, else 400 id_mismatch.", async (t) => {
      const id = t.id();
      t.refused(await t.post(notes, { id, data: { id: "another", title: "x" } }), "id_mismatch");
      t.answered(await t.post(notes, { id, data: { id, title: "x" } }), 200, { status: "confirmed" });
      t.refused(await t.patch(`${notes}/${id}`, { data: { id: "another", title: "y" } }), "id_mismatch");
      t.answered(await t.patch(`${notes}/${id}`, { data: { id, title: "y" } }), 200, { status: "confirmed" });
    }),
    check("[C8] A create fills in the declared defaults, and data begins with id.", async (t) => {
      const id = t.id();
      t.answered(await t.post(stricts, { id, data: { size: 1, name: "n" } }), 200, { status: "confirmed" });
      const read = await t.get(`${stricts}/${id}`);
      t.answered(read, 200, { data: { tier: "plain" } });
      t.is(Object.keys(dataOf(read))[0], "id", "the first key of data");
    }),
    check("A create without a required field is 400 missing_field and names it.", async (t) => {
      const id = t.id();
      t.refused(await t.post(stricts, { id, data: { name: "n" } }), "missing_field", { param: "data.size" });
      t.refused(await t.post(stricts, { id, data: {} }), "missing_field", { param: /^data\.(name|size)$/ });
      t.refused(await t.get(`${stricts}/${id}`), "record_not_found");
    }),
    check("A required field may not be null.", async (t) => {
      const answer = await t.post(stricts, { id: t.id(), data: { name: null, size: 1 } });
      t.answered(answer, 400, { type: "validation_error", param: "data.name" });
    }),
    check("A create of an id that exists is 409 already_exists and changes nothing.", async (t) => {
      const { id, path } = await t.note({ title: "first" });
      t.refused(await t.post(notes, { id, data: { title: "second" } }), "already_exists");
      t.answered(await t.get(path), 200, { data: { title: "first" } });
    }),
    check(
      "[C4] The same create again, with nothing newer on the record, is confirmed at the position of the first and writes nothing.",
      async (t) => {
        const body = { id: t.id(), data: { size: 1, name: "n" } };
        const first = t.answered(await t.post(stricts, body), 200);
        const again = await t.post(stricts, { ...body, data: { name: "n", tier: "plain", size: 1 } });
        t.answered(again, 200, { status: "confirmed", success: true, lastSyncId: positionOf(first) });
        t.is(await verbsOf(t, positionOf(first) - 1, body.id), ["created"], "the verbs in the log");
      },
    ),
    check("[C4] The same create again after an update is 409 already_exists.", async (t) => {
      const { id, path, deckId } = await t.note({ title: "first" });
      t.answered(await t.patch(path, { data: { title: "second" } }), 200);
      t.answered(await t.patch(path, { data: { title: "first" } }), 200);
      t.refused(await t.post(notes, { id, data: { deckId, title: "first" } }), "already_exists");
    }),
    check("[C4] The same create by another participant is 409 already_exists.", async (t) => {
      const { id, group, deckId } = await t.note({ title: "same" });
      const { token } = await t.capability({ operations: [`${NOTE}.*`], syncGroups: [group] });
      t.refused(await t.post(notes, { id, data: { deckId, title: "same" } }, { token }), "already_exists");
    }),
    check("A create of the id of an archived record is 409 already_exists.", async (t) => {
      const { id, path, deckId } = await t.note({ title: "first" });
      t.answered(await t.post(`${path}/archive`), 200);
      t.refused(await t.post(notes, { id, data: { deckId, title: "first" } }), "already_exists");
    }),
    check("A create after a delete is allowed.", async (t) => {
      const { id, path, at } = await t.note({ title: "first" });
      t.answered(await t.remove(path), 200);
      t.answered(await t.post(notes, { id, data: { title: "again" } }), 200, { status: "confirmed" });
      t.answered(await t.get(path), 200, { data: row({ id, title: "again", order: 0 }) });
      t.is(await verbsOf(t, at - 1, id), ["created", "deleted", "created"], "the verbs in the log");
    }),
    check("An update writes the sent fields and leaves the others.", async (t) => {
      const { id, path, at, deckId } = await t.note({ title: "one", body: "text", order: 3 });
      const answer = t.answered(await t.patch(path, { data: { title: "two", body: null } }), 200);
      t.that(positionOf(answer) > at, "a position after the create");
      t.answered(await t.get(path), 200, {
        data: row({ id, deckId, title: "two", body: null, order: 3 }),
        syncId: positionOf(answer),
      });
    }),
    check("[C6] An update with an empty data is 400 empty_update.", async (t) => {
      const { id, path } = await t.note();
      t.refused(await t.patch(path, { data: {} }), "empty_update");
      const answer = await t.commit([{ action: "update", model: NOTE, id, data: {} }]);
      t.refused(answer, "empty_update", { param: /^operations\[0\]/ });
    }),
    check("[C6] An update without data is 400.", async (t) => {
      const { path } = await t.note();
      t.answered(await t.patch(path, {}), 400, { type: "validation_error", code: /^(missing_field|empty_update)$/ });
    }),
    check("[C6] An update with the current values is confirmed and writes no log entry.", async (t) => {
      const { id, path, at } = await t.note({ title: "same", extra: { a: 1, b: [2] }, order: 5 });
      const answer = await t.patch(path, { data: { title: "same", extra: { b: [2], a: 1 }, order: 5.0 } });
      t.answered(answer, 200, { status: "confirmed", success: true, missingIds: absent });
      t.is(await verbsOf(t, at, id), [], "entries after the create");
      t.answered(await t.get(path), 200, { syncId: at });
    }),
    ...checkEach(
      ["update", "archive", "unarchive", "delete"],
      (action) =>
        `The ${action} of a missing record is not an error: its id is in missingIds, and no entry is written.`,
      async (t, action) => {
        const [id, before] = [t.id(), await t.head()];
        const path = `${notes}/${id}`;
        const answer =
          action === "update"
            ? await t.patch(path, { data: { title: "x" } })
            : action === "delete"
              ? await t.remove(path)
              : await t.post(`${path}/${action}`);
        t.answered(answer, 200, { status: "confirmed", missingIds: [id], lastSyncId: atLeast(before) });
        t.is(await verbsOf(t, before, id), [], "entries");
      },
    ),
    check("[C5] The receipt of a batch names the missing ids, and the server applies the rest.", async (t) => {
      const { id, path } = await t.note();
      const [gone, gone2] = [t.id(), t.id()];
      const answer = await t.commit([
        { action: "update", model: NOTE, id: gone, data: { title: "x" } },
        { action: "update", model: NOTE, id, data: { title: "applied" } },
        { action: "delete", model: NOTE, id: gone2 },
      ]);
      t.answered(answer, 200, { status: "confirmed", ops: 3, missingIds: [gone, gone2] });
      t.answered(await t.get(path), 200, { data: { title: "applied" } });
    }),
    check("A delete removes the record; its entry is deleted, with data null.", async (t) => {
      const { id, path, at } = await t.note();
      const answer = t.answered(await t.remove(path), 200, { missingIds: absent });
      t.refused(await t.get(path), "record_not_found");
      const [entry] = await t.entries(at, [id]);
      t.fits(entry, { verb: "deleted", data: null, changedFields: null, syncId: positionOf(answer) }, "the entry");
    }),
    check("[C12] A delete may carry a body with readAt, onStale, claim and idempotencyKey.", async (t) => {
      const { path } = await t.note();
      const readAt = await t.head();
      const json = { readAt, onStale: "overwrite", claim: null, idempotencyKey: t.id() };
      const first = t.answered(await t.remove(path, { json }), 200, { status: "confirmed", missingIds: absent });
      const again = t.answered(await t.remove(path, { json }), 200);
      t.is(again.text, first.text, "the receipt of the same key");
      const other = await t.note();
      t.refused(await t.remove(other.path, { json: { data: {} } }), "unknown_field", { param: "data" });
      t.refused(await t.remove(other.path, { json: { readAt: other.at - 1 } }), "stale_context");
    }),
    check("A write that names a claim without a holder is 409 claim_lost and changes nothing.", async (t) => {
      const { path } = await t.note({ title: "one" });
      t.refused(await t.patch(path, { data: { title: "two" }, claim: "clm_nobody" }), "claim_lost");
      t.answered(await t.get(path), 200, { data: { title: "one" } });
    }),
    check("After the answer, every reader sees the write, in a read, a list and the log.", async (t) => {
      for (let i = 0; i < 10; i++) {
        const { id, path, at } = await t.note({ order: i });
        t.answered(await t.get(path), 200, { stamp: atLeast(at) });
        t.answered(await t.get(`${notes}?ids=${id}`), 200, { data: [{ id }], stamp: atLeast(at) });
        t.is((await t.entries(at - 1, [id])).length, 1, "entries");
      }
    }),
  ],
};
