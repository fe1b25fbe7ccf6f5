import { entriesOf, positionOf } from "../../answers.ts";
import { NOTE } from "../../models.ts";
import { check, type SuiteSection } from "../../section.ts";

const notes = `/v1/models/${NOTE}`;

export const section: SuiteSection = {
  title: "History of one record",
  cases: [
    check("The history is a list of the record's log entries, the same as the log tells them.", async (t) => {
      const { id, path, at } = await t.note({ title: "one" });
      await t.note();
      t.answered(await t.patch(path, { data: { title: "two" } }), 200);
      t.answered(await t.post(`${path}/archive`), 200);
      const answer = t.answered(await t.get(`${path}/history`), 200, { object: "list", has_more: false });
      const told = [...entriesOf(answer)].sort((a, b) => a.syncId - b.syncId);
      t.is(
        told.map(({ verb }) => verb),
        ["created", "updated", "archived"],
        "the verbs",
      );
      t.is(told, await t.entries(at - 1, [id]), "the entries");
    }),
    check("The history of a record that was deleted goes on to its deletion.", async (t) => {
      const { path } = await t.note();
      const gone = t.answered(await t.remove(path), 200);
      const answer = t.answered(await t.get(`${path}/history`), 200, { object: "list" });
      const told = [...entriesOf(answer)].sort((a, b) => a.syncId - b.syncId);
      t.is(
        told.map(({ verb }) => verb),
        ["created", "deleted"],
        "the verbs",
      );
      t.is(told.at(-1)?.syncId, positionOf(gone), "the last position");
    }),
    check("The history of a record that never was is 404 record_not_found, or empty.", async (t) => {
      const answer = await t.get(`${notes}/${t.id()}/history`);
      if (answer.status === 200) t.is(entriesOf(answer), [], "the entries");
      else t.refused(answer, "record_not_found");
    }),
    check("The history pages: limit bounds a page, and next_cursor leads on without a hole.", async (t) => {
      const { path } = await t.note();
      for (let i = 1; i <= 6; i++) t.answered(await t.patch(path, { data: { order: i } }), 200);
      const found: number[] = [];
      let cursor = "";
      do {
        const page = t.answered(await t.get(`${path}/history?limit=3${cursor}`), 200);
        t.that(entriesOf(page).length <= 3, "at most 3 entries on a page", entriesOf(page).length);
        found.push(...entriesOf(page).map(({ syncId }) => syncId));
        const next = page.body.has_more === true ? page.body.next_cursor : null;
        cursor = next === null ? "" : `&starting_after=${encodeURIComponent(String(next))}`;
      } while (cursor !== "" && found.length < 20);
      t.is([new Set(found).size, found.length], [7, 7], "different entries, and all of them");
      for (const limit of ["0", "abc"]) t.refused(await t.get(`${path}/history?limit=${limit}`), "invalid_limit");
    }),
  ],
};
