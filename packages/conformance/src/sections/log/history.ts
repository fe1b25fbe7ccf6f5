import { NOTE, WHOLE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { entriesOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;

/** All pages of a history, as the positions of their entries; the record changes between them. */
async function positions(t: Kit, path: string, order: string): Promise<number[]> {
  const found: number[] = [];
  for (let cursor = ""; found.length < 100; ) {
    const page = t.answered(await t.get(`${path}/history?limit=3&order=${order}${cursor}`), 200);
    t.that(entriesOf(page).length <= 3, "at most 3 entries on a page", entriesOf(page).length);
    t.is(page.body.has_more, page.body.next_cursor !== null, "has_more, by next_cursor");
    found.push(...entriesOf(page).map(({ syncId }) => syncId));
    if (page.body.next_cursor === null) break;
    cursor = `&starting_after=${encodeURIComponent(String(page.body.next_cursor))}`;
    if (found.length < 15) t.answered(await t.patch(path, { data: { order: found.length } }), 200);
  }
  return found;
}

const verbs = async (t: Kit, path: string) =>
  entriesOf(t.answered(await t.get(`${path}/history`), 200)).map(({ verb }) => verb);

export const section: SuiteSection = {
  title: "History of one record",
  cases: [
    check("[G12] The history is a list of the record's log entries, exactly as the log has them.", async (t) => {
      const { id, path, at, deckId } = await t.note({ title: "one" });
      await t.note();
      t.answered(await t.post(`/v1/models/${WHOLE}`, { id, data: { left: "of another model" } }), 200);
      t.answered(await t.patch(path, { data: { title: "two", order: 0.1 } }), 200);
      t.answered(await t.post(`${path}/archive`), 200);
      t.answered(await t.post(`${path}/unarchive`), 200);
      t.answered(await t.remove(path), 200);
      const log = (await t.entries(at - 1, [id])).filter(({ model }) => model === NOTE);
      const answer = t.answered(await t.get(`${path}/history`), 200, {
        object: "list",
        has_more: false,
        next_cursor: null,
        logId: /^log_/,
      });
      t.is(entriesOf(answer), log, "the entries");
      for (const entry of log) t.that(answer.text.includes(JSON.stringify(entry)), "the entry's very text", entry);
      t.is(await verbs(t, path), ["created", "updated", "archived", "unarchived", "deleted"], "the verbs");
      const upper = await t.get(`/api/v1/models/${NOTE.toUpperCase()}/${id}/history?order=desc`);
      t.is(entriesOf(upper), log.toReversed(), "the entries of order=desc");
      t.answered(await t.post(notes, { id, data: { deckId } }), 200);
      t.is((await verbs(t, path)).slice(4), ["deleted", "created"], "how it goes on when the record comes back");
    }),
    ...checkEach(
      ["asc", "desc"],
      (order) => `[G12] Pages of a history, order ${order}, have each entry once, while the record keeps changing.`,
      async (t, order) => {
        const { path } = await t.note({ order: -1 });
        for (let i = 0; i < 8; i++) t.answered(await t.patch(path, { data: { order: i + 100 } }), 200);
        const before = entriesOf(await t.get(`${path}/history?limit=100&order=${order}`)).map(({ syncId }) => syncId);
        const found = await positions(t, path, order);
        t.is(found.slice(0, before.length), before, "the entries that were there before");
        t.is(new Set(found).size, found.length, "how many different entries came");
      },
    ),
    check("[G12] A page has 20 entries unless limit says otherwise.", async (t) => {
      const { id, path } = await t.note();
      const update = (n: number) => ({ action: "update", model: NOTE, id, data: { order: n + 1 } });
      t.answered(await t.commit(Array.from({ length: 25 }, (_, n) => update(n))), 200);
      t.is(entriesOf(await t.get(`${path}/history`)).length, 20, "entries");
    }),
    check("[G4] [G12] A cursor belongs to its record, its order and its tenant.", async (t) => {
      const [{ path }, other] = [await t.note(), await t.note()];
      t.answered(await t.patch(path, { data: { title: "two" } }), 200);
      const { body } = t.answered(await t.get(`${path}/history?limit=1`), 200, { has_more: true });
      const cursor = `starting_after=${encodeURIComponent(String(body.next_cursor))}`;
      t.answered(await t.get(`${path}/history?${cursor}`), 200);
      for (const wrong of [`${other.path}/history?`, `${path}/history?order=desc&`, `${notes}?`])
        t.refused(await t.get(wrong + cursor), "invalid_cursor");
      t.refused(await t.get(`${path}/history?${cursor}`, { token: t.otherKey() }), "invalid_cursor");
    }),
    check("[G12] [G2] The history of an unknown record, or of another tenant's, is 404.", async (t) => {
      const { id, path } = await t.note();
      for (const wrong of [`${notes}/${t.id()}`, `/v1/models/${WHOLE}/${id}`])
        t.refused(await t.get(`${wrong}/history`), "record_not_found");
      for (const token of [t.otherKey(), (await t.freshTenant()).key])
        t.refused(await t.get(`${path}/history`, { token }), "record_not_found");
      t.refused(await t.get(`/v1/models/ConfNothing/${id}/history`), "unknown_model");
      for (const wrong of ["a%20b", "a%00b"]) t.refused(await t.get(`${notes}/${wrong}/history`), "invalid_id");
    }),
    ...checkEach(
      [
        ["limit=0", "invalid_limit"],
        ["limit=101", "invalid_limit"],
        ["limit=abc", "invalid_limit"],
        ["limit=1&limit=1", "invalid_limit"],
        ["order=up", "invalid_value"],
        ["order_by=id", "unknown_parameter"],
        ["filter[title]=x", "unknown_parameter"],
        ["starting_after=", "invalid_cursor"],
        ["starting_after=e30.AAAA", "invalid_cursor"],
        ["starting_after=%00", "invalid_cursor"],
      ] as const,
      ([query, code]) => `[H6] A history with ${query} is 400 ${code}.`,
      async (t, [query, code]) => t.refused(await t.get(`${(await t.note()).path}/history?${query}`), code),
    ),
    check(
      "[G12] [T7] A scoped reader gets the entries in its groups, and a record that left them as deleted.",
      async (t) => {
        const [near, far] = [t.deck(), t.deck()];
        const { path } = await t.note({ deckId: near.deckId });
        for (const data of [{ title: "x" }, { deckId: far.deckId }, { title: "y" }])
          t.answered(await t.patch(path, { data }), 200);
        const mint = async (group: string, operation = `${NOTE}.read`) =>
          (await t.capability({ operations: [operation], syncGroups: [group] })).token;
        const read = async (token: string, query = "") => {
          const answer = t.answered(await t.get(`${path}/history${query}`, { token }), 200);
          return {
            next: answer.body.next_cursor,
            entries: entriesOf(answer).map(({ verb, left, data }) => [verb, left, data === null]),
          };
        };
        const [here, there] = [await mint(near.group), await mint(far.group)];
        const gone = ["deleted", true, true];
        const entries = [["created", undefined, false], ["updated", undefined, false], gone];
        t.is(await read(here), { next: null, entries }, "the entries for a reader of the old group");
        t.is((await read(there)).entries, [entries[1], entries[1]], "the entries for a reader of the new group");
        const { next } = await read(here, "?limit=2");
        const cursor = `?limit=2&starting_after=${encodeURIComponent(String(next))}`;
        t.is(await read(here, cursor), { next: null, entries: [gone] }, "the second page");
        t.refused(await t.get(`${path}/history${cursor}`, { token: there }), "invalid_cursor");
        t.refused(await t.get(`${path}/history`, { token: await mint(t.deck().group) }), "record_not_found");
        const denied = await t.get(`${path}/history`, { token: await mint(near.group, `${WHOLE}.read`) });
        t.refused(denied, "capability_scope_denied");
        t.is(
          (await read(await mint(`org:${await t.organization()}`))).entries.length,
          4,
          "the number of entries for the organization",
        );
      },
    ),
  ],
};
