import { flag, type Pattern, someText } from "../../assertions/pattern.ts";
import { NOTE, WHOLE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { FINDS, five, type Query, said } from "../../kit/query-kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import { idsOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;

/** All pages of a query, read on to the last one and back to the first. */
async function pages(t: Kit, query: Query, limit: number) {
  const read = async (place: object) => {
    const json = { ...query, limit, ...place };
    const page = t.answered(await t.post(`${notes}/query`, json), 200, { has_more: flag, has_previous: flag });
    const { next_cursor: next, previous_cursor: previous, has_more, has_previous } = page.body;
    t.is([has_more, has_previous], [next !== null, previous !== null], "has_more and has_previous, by the cursors");
    return { ids: idsOf(page), next, previous };
  };
  let page = await read({});
  t.is(page.previous, null, "previous_cursor of the first page");
  const onward = [...page.ids];
  while (page.next !== null) {
    page = await read({ starting_after: page.next });
    onward.push(...page.ids);
  }
  const back = [...page.ids];
  while (page.previous !== null) {
    page = await read({ ending_before: page.previous });
    back.unshift(...page.ids);
  }
  return { onward, back };
}

export const section: SuiteSection = {
  title: "Pages of a query in JSON",
  cases: [
    check("[G30] A list by GET sorts by several keys, each with a direction if it wants one.", async (t) => {
      const { deckId, places } = await five(t);
      for (const [spelled, which] of [
        ["order,title:desc", [0, 4, 1, 2, 3]],
        ["state:values,order:desc", [4, 0, 1, 3, 2]],
        ["done,count,order:asc&order=desc", [0, 4, 1, 2, 3]],
        ["order,title:desc,createdAt:asc", [0, 4, 1, 2, 3]],
      ] as const) {
        const address = `${notes}?filter[deckId]=${deckId}&order_by=${spelled}`;
        const first = t.answered(await t.get(`${address}&limit=2`), 200, { next_cursor: someText });
        const cursor = encodeURIComponent(String(first.body.next_cursor));
        const rest = t.answered(await t.get(`${address}&starting_after=${cursor}`), 200, { has_more: false });
        t.is(places([...idsOf(first), ...idsOf(rest)]), which, `the records by ${spelled}`);
        const before = encodeURIComponent(String(rest.body.previous_cursor));
        const back = t.answered(await t.get(`${address}&limit=2&ending_before=${before}`), 200, {
          ...{ has_more: true, has_previous: false, previous_cursor: null },
        });
        t.is(places(idsOf(back)), which.slice(0, 2), `the records by ${spelled}, read back`);
      }
      for (const wrong of ["order,", "order,,title", "order:down", "order,tags", "order,colour", "%20order"])
        t.refused(await t.get(`${notes}?order_by=${wrong}`), "unknown_column", { param: "order_by" });
      t.refused(await t.get(`${notes}?order_by=${Array(9).fill("order").join()}`), "invalid_value", {
        param: "order_by",
      });
    }),
    check(
      "[G4] [G30] [G35] [G44] Pages of a query have each record once, read on or back, whatever it is sorted by.",
      async (t) => {
        const { within, places } = await five(t);
        for (const [query, which] of FINDS.filter(([{ orderBy }]) => orderBy !== undefined))
          for (const limit of [1, 2]) {
            const { onward, back } = await pages(t, within(query), limit);
            t.is(places(onward), which, `the records by ${said(query)}`);
            t.is(places(back), which, `the records by ${said(query)}, read back`);
          }
        const ask = (place: object) => t.post(`${notes}/query`, { ...within({}), limit: 2, ...place });
        const { next_cursor: next } = t.answered(await ask({}), 200).body;
        const second = t.answered(await ask({ starting_after: next }), 200).body;
        t.is(places(idsOf(await ask({ ending_before: second.next_cursor }))), [1, 2], "before the next page");
        t.is(places(idsOf(await ask({ starting_after: second.previous_cursor }))), [3, 4], "after the page before");
      },
    ),
    check("[G27] A cursor belongs to its query, in whatever order the keys are written.", async (t) => {
      const { deckId } = await five(t);
      const where = { deckId, order: { gte: 1, lt: 20 } };
      const orderBy = ["order", "title"];
      const first = t.answered(await t.post(`${notes}/query`, { where, orderBy, limit: 1 }), 200, {
        next_cursor: someText,
      });
      const cursor = String(first.body.next_cursor);
      const next = { orderBy, starting_after: cursor };
      const same = await t.post(`${notes}/query`, { ...next, where: { order: { lt: 20, gte: 1 }, deckId } });
      t.is(idsOf(t.answered(same, 200)).length, 4, "records of the rest");
      for (const other of [
        { ...next, where: { deckId } },
        { ...next, where: { deckId, order: { gte: 2, lt: 20 } } },
        { ...next, where: { deckId: t.id(), order: { gte: 1, lt: 20 } } },
        { ...next, where: { and: [where] } },
        { starting_after: cursor },
        { ...next, where, order: "desc" },
        { ...next, where, orderBy: ["order"] },
        { ...next, where, orderBy: ["title", "order"] },
        { ...next, where, archived: "with" },
        { ...next, where, search: "a" },
        ...["", `${cursor}x`, "x".repeat(10_000), [cursor]].map((wrong) => ({ ...next, where, starting_after: wrong })),
      ]) {
        t.refused(await t.post(`${notes}/query`, other), "invalid_cursor", { param: "starting_after" });
        const { starting_after: after, ...rest } = other;
        t.refused(await t.post(`${notes}/query`, { ...rest, ending_before: after }), "invalid_cursor", {
          ...{ param: "ending_before" },
        });
      }
      t.refused(await t.get(`${notes}?starting_after=${encodeURIComponent(cursor)}`), "invalid_cursor");
      t.refused(await t.post(`/v1/models/${WHOLE}/query`, { starting_after: next.starting_after }), "invalid_cursor");
    }),
    check("[G36] A page that has become empty has the way back, and misses nothing that comes again.", async (t) => {
      const { deckId } = t.deck();
      const name = (n: number) => `${deckId}-${n}`;
      const write = async (action: string, ...all: readonly number[]) =>
        t.answered(
          await t.commit(
            all.map((n) => ({ action, model: NOTE, id: name(n), data: action === "create" ? { deckId } : undefined })),
          ),
          200,
        );
      const page = async (place: object, ids: readonly number[], has: Pattern) => {
        const json = { where: { deckId }, limit: 2, ...place };
        const answer = t.answered(await t.post(`${notes}/query`, json), 200, has);
        t.is(idsOf(answer), ids.map(name), `the records of ${said(Object.keys(place))}`);
        return { next: answer.body.next_cursor, previous: answer.body.previous_cursor };
      };
      await write("create", 1, 2, 3, 4);
      const first = await page({}, [1, 2], { has_more: true });
      await write("delete", 3, 4);
      const empty = await page({ starting_after: first.next }, [], {
        has_more: false,
        next_cursor: null,
        has_previous: true,
      });
      await page({ ending_before: empty.previous }, [1, 2], { has_previous: false });
      await write("create", 3, 4, 5);
      const second = await page({ starting_after: first.next }, [3, 4], { has_more: true });
      await write("delete", 1, 2);
      const none = await page({ ending_before: second.previous }, [], {
        has_previous: false,
        previous_cursor: null,
        has_more: true,
      });
      await page({ starting_after: none.next }, [3, 4], { has_more: true });
      const counted = { limit: 0, count: true, starting_after: none.next };
      await page(counted, [], { count: 3, has_more: false, has_previous: false, previous_cursor: null });
    }),
  ],
};
