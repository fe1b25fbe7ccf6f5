import { absent, flag, someText } from "../../assertions/pattern.ts";
import { NOTE, WHOLE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { idsOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;

const ROWS = [
  {
    ...{ title: "a b", order: 1, count: 10, done: true, at: "2024-01-01T12:00:00Z", state: "draft" },
    ...{ tags: ["x", 3], extra: { a: [1, null], b: "x" } },
  },
  {
    ...{ title: "a&b=c", order: 2, count: 20, done: false, at: "2024-01-01T14:00:00+02:00", state: "final" },
    ...{ body: null, tags: [], extra: "x" },
  },
  { title: "é🙂", order: 2.5, count: -3, at: "2024-01-02T00:00:00+02:00", body: "text", tags: ["3"], extra: null },
  { title: "", order: 10, state: "archive" },
  { title: "É", order: 2, count: 10, done: true, state: "draft", extra: { b: "x", a: [1, null] } },
] as const;
const ALL = [0, 1, 2, 3, 4];

type Query = Readonly<Record<string, unknown>>;

async function five(t: Kit) {
  const { deckId } = t.deck();
  const ids = ROWS.map((_, i) => `${deckId}-${i}`);
  t.answered(
    await t.commit(ROWS.map((data, i) => ({ action: "create", model: NOTE, id: ids[i], data: { deckId, ...data } }))),
    200,
  );
  /** Within the deck, whatever else is asked for. */
  const within = ({ where = {}, ...rest }: Query): Query => ({ ...rest, where: { deckId, and: [where] } });
  const places = (found: readonly unknown[]) => found.map((id) => ids.indexOf(String(id)));
  return {
    ...{ deckId, ids, within, places },
    list: async (query: Query) => places(idsOf(t.answered(await t.post(`${notes}/query`, within(query)), 200))),
  };
}

/** A query, and which of the five records it finds, in their order. */
const FINDS: readonly (readonly [query: Query, which: readonly number[]])[] = [
  [{}, ALL],
  [{ where: {} }, ALL],
  [{ where: { title: "a b" } }, [0]],
  [{ where: { title: "" } }, [3]],
  [{ where: { order: 2, done: false } }, [1]],
  [{ where: { order: 2, done: null } }, []],
  [{ where: { at: "2024-01-01T13:00:00+01:00" } }, [0, 1]],
  [{ where: { body: null } }, [0, 1, 3, 4]],
  [{ where: { body: { not: null } } }, [2]],
  [{ where: { count: { not: 10 } } }, [1, 2, 3]],
  [{ where: { state: { in: ["draft", null] } } }, [0, 2, 4]],
  [{ where: { state: { notIn: ["draft"] } } }, [1, 2, 3]],
  [{ where: { state: { in: [] } } }, []],
  [{ where: { state: { notIn: [] } } }, ALL],
  [{ where: { order: { gt: 1, lte: 2.5 } } }, [1, 2, 4]],
  [{ where: { count: { gte: 9.5 } } }, [0, 1, 4]],
  [{ where: { count: { lt: 1e300 } } }, [0, 1, 2, 4]],
  [{ where: { at: { lt: "2024-01-01T21:59:59Z" } } }, [0, 1]],
  [{ where: { title: { contains: "a" } } }, [0, 1]],
  [{ where: { title: { contains: "A" } } }, []],
  [{ where: { title: { contains: "%" } } }, []],
  [{ where: { title: { startsWith: "a&" } } }, [1]],
  [{ where: { title: { search: "B A" } } }, [0, 1]],
  [{ where: { tags: { contains: 3 } } }, [0]],
  [{ where: { tags: { contains: "3" } } }, [2]],
  [{ where: { tags: [] } }, [1]],
  [{ where: { tags: { in: [["x", 3], null] } } }, [0, 3, 4]],
  [{ where: { extra: { b: "x", a: [1, null] } } }, [0, 4]],
  [{ where: { extra: { not: "x" } } }, [0, 2, 3, 4]],
  [{ where: { extra: { contains: "x" } } }, [1]],
  [{ where: { or: [] } }, []],
  [{ where: { and: [] } }, ALL],
  [{ where: { or: [{}] } }, ALL],
  [{ where: { or: [{ count: 20 }, { order: { gt: 5 } }] } }, [1, 3]],
  [{ where: { done: true, or: [{ order: 1 }, { title: { contains: "b" } }] } }, [0]],
  [{ where: { and: [{ or: [{ done: null }, { count: 20 }] }, { or: [{ body: "text" }, { order: 10 }] }] } }, [2, 3]],
  [{ search: "TEXT é" }, [2]],
  [{ search: "a", where: { order: 2 } }, [1]],
  [{ search: "" }, ALL],
  [{ order: "desc" }, [4, 3, 2, 1, 0]],
  [{ orderBy: "title" }, [3, 0, 1, 4, 2]],
  [{ orderBy: "count" }, [2, 0, 4, 1, 3]],
  [{ orderBy: "count", order: "desc" }, [1, 4, 0, 2, 3]],
  [{ orderBy: ["order", "title"] }, [0, 1, 4, 2, 3]],
  [{ orderBy: ["order", { field: "title", order: "desc" }] }, [0, 4, 1, 2, 3]],
  [
    {
      orderBy: [
        { field: "state", by: "values" },
        { field: "order", order: "desc" },
      ],
    },
    [4, 0, 1, 3, 2],
  ],
  [{ orderBy: ["done", "count", { field: "order", order: "asc" }], order: "desc" }, [0, 4, 1, 2, 3]],
  [{ orderBy: ["at", { field: "id", order: "desc" }, "title"] }, [1, 0, 2, 4, 3]],
  [{ orderBy: "$syncId", order: "desc" }, [4, 3, 2, 1, 0]],
];

/** A field, a query, and how many of its records have which value. */
const COUNTS: readonly (readonly [
  field: string,
  query: Query,
  counts: readonly (readonly [value: unknown, count: number])[],
])[] = [
  [
    "state",
    {},
    [
      ["draft", 2],
      ["archive", 1],
      ["final", 1],
      [null, 1],
    ],
  ],
  [
    "count",
    { where: { count: { not: null } } },
    [
      [10, 2],
      [-3, 1],
      [20, 1],
    ],
  ],
  [
    "done",
    { where: { order: { gte: 2 } } },
    [
      [null, 2],
      [false, 1],
      [true, 1],
    ],
  ],
  [
    "body",
    {},
    [
      [null, 4],
      ["text", 1],
    ],
  ],
  [
    "order",
    { search: "a" },
    [
      [1, 1],
      [2, 1],
    ],
  ],
  [
    "tags",
    {},
    [
      [null, 2],
      ["x", 1],
      ["3", 1],
      [3, 1],
    ],
  ],
  ["tags", { where: { tags: [] } }, []],
  ["title", { where: { or: [] } }, []],
];

const nested = (levels: number): Query => (levels === 0 ? { order: 1 } : { or: [nested(levels - 1)] });
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

const REFUSED: readonly (readonly [query: unknown, code: string, param?: string])[] = [
  [[], "invalid_body"],
  ["{}", "invalid_body"],
  [{ wehre: {} }, "unknown_field", "wehre"],
  [{ include: {} }, "unknown_field", "include"],
  [{ locale: "de" }, "unknown_field", "locale"],
  [{ where: null }, "invalid_value", "where"],
  [{ where: [] }, "invalid_value", "where"],
  [{ where: { colour: "red" } }, "unknown_field", "where.colour"],
  [{ where: { Title: "a" } }, "unknown_field", "where.Title"],
  [{ where: { constructor: "a" } }, "unknown_field", "where.constructor"],
  [{ where: { order: "1" } }, "invalid_value", "where.order"],
  [{ where: { count: 1.5 } }, "invalid_value", "where.count"],
  [{ where: { state: "gone" } }, "invalid_value", "where.state"],
  [{ where: { state: { in: ["draft", "gone"] } } }, "invalid_value", "where.state.in[1]"],
  [{ where: { at: "2024-01-01" } }, "invalid_value", "where.at"],
  [{ where: { title: { like: "a" } } }, "invalid_value", "where.title"],
  [{ where: { title: {} } }, "invalid_value", "where.title"],
  [{ where: { order: { startsWith: "1" } } }, "invalid_value", "where.order"],
  [{ where: { order: { gt: null } } }, "invalid_value", "where.order.gt"],
  [{ where: { tags: "x" } }, "invalid_value", "where.tags"],
  [{ where: { extra: { gt: 1 } } }, "invalid_value", "where.extra.gt"],
  [{ where: { or: {} } }, "invalid_value", "where.or"],
  [{ where: { or: [{ order: 1 }, { title: { contains: 3 } }] } }, "invalid_value", "where.or[1].title.contains"],
  [{ where: { not: { order: 1 } } }, "unknown_field", "where.not"],
  [{ where: nested(11) }, "invalid_value", `where${".or[0]".repeat(10)}.or`],
  [{ where: { order: { in: numbers(101) } } }, "invalid_value", "where.order.in"],
  [{ where: { or: numbers(101).map((order) => ({ order })) } }, "invalid_value", "where"],
  [{ search: 3 }, "invalid_value", "search"],
  [{ orderBy: "colour" }, "unknown_field", "orderBy"],
  [{ orderBy: ["order", "tags"] }, "invalid_value", "orderBy[1]"],
  [{ orderBy: [{ field: "order", oder: "desc" }] }, "unknown_field", "orderBy[0].oder"],
  [{ orderBy: [{ field: "order", order: "down" }] }, "invalid_value", "orderBy[0].order"],
  [{ orderBy: [{ field: "order", by: "values" }] }, "invalid_value", "orderBy[0].by"],
  [{ orderBy: Array(9).fill("order") }, "invalid_value", "orderBy"],
  [{ order: "up" }, "invalid_value", "order"],
  [{ archived: "all" }, "invalid_value", "archived"],
  [{ limit: 0 }, "invalid_limit", "limit"],
  [{ limit: 101 }, "invalid_limit", "limit"],
  [{ limit: 0, count: false }, "invalid_limit", "limit"],
  [{ limit: -1, count: true }, "invalid_limit", "limit"],
  [{ limit: 101, count: true }, "invalid_limit", "limit"],
  [{ count: 1 }, "invalid_value", "count"],
  [{ count: "true" }, "invalid_value", "count"],
  [{ count: null }, "invalid_value", "count"],
  [{ countby: "state" }, "unknown_field", "countby"],
  [{ countBy: "colour" }, "unknown_field", "countBy"],
  [{ countBy: "" }, "unknown_field", "countBy"],
  [{ countBy: null }, "unknown_field", "countBy"],
  [{ countBy: "constructor" }, "unknown_field", "countBy"],
  [{ countBy: "extra" }, "invalid_value", "countBy"],
  [{ countBy: ["state"] }, "unknown_field", "countBy"],
  [{ limit: null }, "invalid_limit", "limit"],
  [{ limit: "5" }, "invalid_limit", "limit"],
  [{ limit: 1e300 }, "invalid_limit", "limit"],
  [{ starting_after: "x" }, "invalid_cursor", "starting_after"],
  [{ starting_after: null }, "invalid_cursor", "starting_after"],
  [{ ending_before: "x" }, "invalid_cursor", "ending_before"],
  [{ ending_before: null }, "invalid_cursor", "ending_before"],
  [{ starting_after: "x", ending_before: "x" }, "invalid_value", "ending_before"],
];
const said = (value: unknown) => {
  const text = JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
};

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
  title: "Lists by a query in JSON",
  cases: [
    ...checkEach(
      FINDS,
      ([query]) => `[G26] A query ${said(query)} has the matching records, in its order.`,
      async (t, [query, which]) => {
        const { list } = await five(t);
        t.is(await list(query), which, "the records found");
      },
    ),
    ...checkEach(
      REFUSED,
      ([query, code, param]) => `[G28] [G29] A query ${said(query)} is 400 ${code}${param ? ` at ${param}` : ""}.`,
      async (t, [query, code, param]) =>
        t.refused(await t.post(`${notes}/query`, query), code, param === undefined ? {} : { param }),
    ),
    ...checkEach(
      FINDS,
      ([query]) => `[G33] A query ${said(query)} says how many records match it, on whatever page.`,
      async (t, [query, which]) => {
        const { within } = await five(t);
        const count = which.length;
        const first = t.answered(await t.post(`${notes}/query`, { ...within(query), count: true, limit: 1 }), 200, {
          ...{ count, has_more: count > 1 },
        });
        t.answered(await t.post(`${notes}/query`, { ...within(query), count: true, limit: 0 }), 200, {
          ...{ count, data: [], has_more: false, next_cursor: null },
        });
        if (count < 2) return;
        const rest = { ...within(query), starting_after: first.body.next_cursor };
        t.answered(await t.post(`${notes}/query`, { ...rest, count: true }), 200, { count, has_more: false });
        for (const uncounted of [rest, { ...rest, count: false }])
          t.answered(await t.post(`${notes}/query`, uncounted), 200, { count: absent });
      },
    ),
    ...checkEach(
      COUNTS,
      ([field, query]) => `[G34] A query ${said(query)} says how many records have which "${field}".`,
      async (t, [field, query, counts]) => {
        const { within } = await five(t);
        const { body } = t.answered(
          await t.post(`${notes}/query`, { ...within(query), countBy: field, limit: 0 }),
          200,
          {
            ...{ data: [], has_more_counts: false },
          },
        );
        const found = (body.counts as { value: unknown; count: number }[]).map(({ value, count }) => [value, count]);
        t.is(found.map(said).sort(), counts.map(said).sort(), "the counts");
        const times = found.map(([, count]) => count);
        t.is(
          times,
          counts.map(([, count]) => count).sort((a, b) => b - a),
          "how often, from the most frequent on",
        );
      },
    ),
    check("[G26] [G42] A query answers what the list by GET answers.", async (t) => {
      const { deckId, within } = await five(t);
      const query = within({ where: { order: { gte: 2 } }, orderBy: ["order", "title"], limit: 2 });
      const posted = t.answered(await t.post(`${notes}/query`, query), 200, { object: "list", has_more: true });
      const got = t.answered(
        await t.get(`${notes}?filter[deckId]=${deckId}&filter[order][gte]=2&order_by=order,title&limit=2`),
        200,
      );
      t.is(posted.body.data, got.body.data, "the records");
      t.is(posted.body.model, got.body.model, "the model");
    }),
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
      "[G4] [G30] [G35] Pages of a query have each record once, read on or back, whatever it is sorted by.",
      async (t) => {
        const { within, places } = await five(t);
        for (const [query, which] of FINDS.filter(([{ orderBy }]) => orderBy !== undefined))
          for (const limit of [1, 2]) {
            const { onward, back } = await pages(t, within(query), limit);
            t.is(places(onward), which, `the records by ${said(query)}`);
            t.is(places(back), which, `the records by ${said(query)}, read back`);
          }
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
    check("[G26] [G5] A query has archived records on request.", async (t) => {
      const { deckId, ids, list, places } = await five(t);
      t.answered(await t.post(`${notes}/${ids[1]}/archive`), 200);
      t.is(await list({}), [0, 2, 3, 4], "the records found");
      const all = { where: { deckId }, archived: "with", count: true };
      for (const [query, which] of [
        [all, ALL],
        [{ ...all, archived: "only" }, [1]],
      ] as const) {
        const answer = t.answered(await t.post(`${notes}/query`, query), 200, { count: which.length });
        t.is(places(idsOf(answer)), which, "the records found");
        t.is(Object.keys(answer.body.archived as object), [ids[1]], "the ids with a time of archiving");
      }
      const withAll = (query: Query) => list({ ...query, archived: "with" });
      t.is(await withAll({ where: { $archivedAt: { not: null } } }), [1], "the records that were archived");
      const latestFirst = ["$archivedAt", { field: "id", order: "desc" }];
      t.is(await withAll({ orderBy: latestFirst }), [1, 4, 3, 2, 0], "the records by when they were archived");
    }),
    check("[G26] [G42] A token sees its groups' records in a query, and no model that it may not read.", async (t) => {
      const { deckId, ids } = await five(t);
      await five(t);
      const { token } = await t.capability({
        ...{ participantId: "conf-query", operations: [`${NOTE}.read`], syncGroups: [`confdeck:${deckId}`] },
      });
      const seen = t.answered(
        await t.post(`${notes}/query`, { where: { or: [{ order: { gt: 0 } }] } }, { token }),
        200,
      );
      t.is(idsOf(seen), ids, "the records of the group");
      const json = { count: true, countBy: "state", limit: 0 };
      t.answered(await t.post(`${notes}/query`, json, { token }), 200, {
        ...{ count: 5, counts: [{ value: "draft", count: 2 }, { count: 1 }, { count: 1 }, { count: 1 }] },
      });
      for (const denied of [{}, { count: true, limit: 0 }])
        t.refused(await t.post(`/v1/models/${WHOLE}/query`, denied, { token }), "capability_scope_denied");
    }),
    check("[G28] A query of an unknown model is 404, and one without a body or with parameters is 400.", async (t) => {
      t.refused(await t.post(`/v1/models/ConfNothing/query`, {}), "unknown_model");
      t.answered(await t.post(`${notes}/query`), 400, { type: "validation_error" });
      t.refused(await t.post(`${notes}/query?limit=3`, {}), "unknown_parameter", { param: "limit" });
    }),
  ],
};
