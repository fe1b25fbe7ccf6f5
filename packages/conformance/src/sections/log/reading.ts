import { atLeast, row, someText, time } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import { positionOf } from "../../protocol/answers.ts";

export const section: SuiteSection = {
  title: "Reading one record",
  cases: [
    check("A read answers with the read envelope, which has every documented field.", async (t) => {
      const { id, path, at, deckId } = await t.note({ title: "one" });
      t.answered(await t.get(path), 200, {
        object: "model",
        model: NOTE,
        id,
        data: row({ id, deckId, title: "one", order: 0 }),
        stamp: atLeast(at),
        claims: [],
        syncId: at,
        createdAt: time,
        createdBy: someText,
        updatedAt: time,
        updatedBy: someText,
        archivedAt: null,
      });
    }),
    check("syncId, updatedAt and updatedBy follow the record's last entry; createdAt stays.", async (t) => {
      const { id, path, at } = await t.note();
      const before = t.answered(await t.get(path), 200).body;
      const update = t.answered(await t.patch(path, { data: { title: "two" } }), 200);
      const after = t.answered(await t.get(path), 200, {
        syncId: positionOf(update),
        createdAt: String(before.createdAt),
      });
      const [created, updated] = await t.entries(at - 1, [id]);
      t.is(Date.parse(String(before.createdAt)), Date.parse(String(created?.createdAt)), "createdAt");
      t.is(Date.parse(String(after.body.updatedAt)), Date.parse(String(updated?.createdAt)), "updatedAt");
      t.fits(after.body.updatedBy, /^(system:)?\S+$/, "updatedBy");
    }),
    check("stamp is never older than an earlier answer, and never newer than the data of the read.", async (t) => {
      const { id, path, at } = await t.note({ order: 0 });
      let stop = false;
      const writing = (async () => {
        for (let i = 1; !stop && i < 300; i++) await t.patch(path, { data: { order: i } });
      })();
      const reads: { syncId: number; stamp: number }[] = [];
      try {
        for (let i = 0; i < 40; i++) {
          const { body } = t.answered(await t.get(path), 200);
          reads.push({ syncId: Number(body.syncId), stamp: Number(body.stamp) });
        }
      } finally {
        stop = true;
        await writing;
      }
      const positions = (await t.entries(at, [id])).map(({ syncId }) => syncId);
      t.that(positions.length > 0, "something to be written meanwhile");
      let last = at;
      for (const { syncId, stamp } of reads) {
        t.that(stamp >= last, `a stamp from ${last}`, stamp);
        // A client that reads the log from the stamp on would miss these.
        const unheard = positions.filter((position) => position > syncId && position <= stamp);
        t.is(unheard, [], `positions after the row's ${syncId} up to its stamp ${stamp}`);
        last = stamp;
      }
    }),
    check("A query parameter that the route does not know is 400.", async (t) => {
      const { path } = await t.note();
      t.answered(await t.get(`${path}?colour=1`), 400, { type: "validation_error" });
    }),
  ],
};
