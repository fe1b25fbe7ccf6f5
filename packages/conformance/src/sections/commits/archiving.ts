import { row, time } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import { idsOf, positionOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;

export const section: SuiteSection = {
  title: "Archive and restore",
  cases: [
    check("[C5] Archiving sets archivedAt and writes an entry archived with the whole row.", async (t) => {
      const { id, path, at, deckId } = await t.note({ title: "one" });
      t.answered(await t.get(path), 200, { archivedAt: null });
      const answer = t.answered(await t.post(`${path}/archive`), 200, { status: "confirmed" });
      t.answered(await t.get(path), 200, { archivedAt: time, data: { title: "one" }, syncId: positionOf(answer) });
      const [entry] = await t.entries(at, [id]);
      const data = row({ id, deckId, title: "one", order: 0 });
      t.fits(entry, { verb: "archived", data, changedFields: null, syncId: positionOf(answer) }, "the entry");
    }),
    check("[C5] Unarchiving removes archivedAt and writes an entry unarchived with the whole row.", async (t) => {
      const { id, path, deckId } = await t.note({ title: "one" });
      const archived = t.answered(await t.post(`${path}/archive`), 200);
      const answer = t.answered(await t.post(`${path}/unarchive`), 200, { status: "confirmed" });
      t.answered(await t.get(path), 200, { archivedAt: null });
      const [entry] = await t.entries(positionOf(archived), [id]);
      const data = row({ id, deckId, title: "one", order: 0 });
      t.fits(entry, { verb: "unarchived", data, syncId: positionOf(answer) }, "the entry");
    }),
    check("[C5] [C6] Archiving twice is a confirmed no-op, and so is restoring what is not archived.", async (t) => {
      const { id, path, at } = await t.note();
      t.answered(await t.post(`${path}/unarchive`), 200, { status: "confirmed" });
      t.answered(await t.post(`${path}/archive`), 200, { status: "confirmed" });
      t.answered(await t.post(`${path}/archive`), 200, { status: "confirmed" });
      t.is(
        (await t.entries(at, [id])).map(({ verb }) => verb),
        ["archived"],
        "entries after the create",
      );
    }),
    check("[C5] An archived record can be updated, stays archived, and can be deleted.", async (t) => {
      const { path } = await t.note();
      t.answered(await t.post(`${path}/archive`), 200);
      t.answered(await t.patch(path, { data: { title: "two" } }), 200, { status: "confirmed" });
      t.answered(await t.get(path), 200, { archivedAt: time, data: { title: "two" } });
      t.answered(await t.remove(path), 200, { status: "confirmed" });
      t.refused(await t.get(path), "record_not_found");
    }),
    check("[C5] Archive and unarchive are operations of a batch too.", async (t) => {
      const { id, path } = await t.note();
      t.answered(await t.commit([{ action: "archive", model: NOTE, id }]), 200, { status: "confirmed" });
      t.answered(await t.get(path), 200, { archivedAt: time });
      t.answered(await t.commit([{ action: "unarchive", model: NOTE, id }]), 200, { status: "confirmed" });
      t.answered(await t.get(path), 200, { archivedAt: null });
    }),
    check(
      "[G5] Lists leave out archived records; state=archived and state=all show them, with archivedAt.",
      async (t) => {
        const { id: live, deckId } = await t.note();
        const { id: put, path } = await t.note({ deckId });
        t.answered(await t.post(`${path}/archive`), 200);
        const list = async (state: string) => await t.get(`${notes}?ids=${live},${put}${state}`);
        t.is(idsOf(await list("")), [live], "ids without a state");
        t.is(idsOf(await list("&state=live")), [live], "ids of state=live");
        const archived = t.answered(await list("&state=archived"), 200, { archived: { [put]: time } });
        t.is(idsOf(archived), [put], "ids of state=archived");
        const all = t.answered(await list("&state=all"), 200, { archived: { [put]: time } });
        t.is(new Set(idsOf(all)), new Set([live, put]), "ids of state=all");
        t.answered(await list("&state=gone"), 400, { type: "validation_error", param: "state" });
      },
    ),
    check("Archive and unarchive accept the write envelope without data.", async (t) => {
      const { path } = await t.note();
      const json = { readAt: await t.head(), onStale: "reject", clientTxId: t.id(), clientId: "conf" };
      t.answered(await t.post(`${path}/archive`, json), 200, { clientTxId: json.clientTxId });
      t.refused(await t.post(`${path}/unarchive`, { data: {} }), "unknown_field", { param: "data" });
    }),
  ],
};
