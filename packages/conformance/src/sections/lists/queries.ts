import { absent } from "../../assertions/pattern.ts";
import { NOTE, WHOLE } from "../../environment/models.ts";
import { ALL, FINDS, five, type Query, said } from "../../kit/query-kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { type Answer, idsOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;

/** A field, a query, and how many of its records have which value, the most frequent first. */
const COUNTS: readonly (readonly [field: string, query: Query, counts: string])[] = [
  ["state", {}, '2 "draft", 1 "archive", 1 "final", 1 null'],
  ["count", { where: { count: { not: null } } }, "2 10, 1 -3, 1 20"],
  ["done", { where: { order: { gte: 2 } } }, "2 null, 1 false, 1 true"],
  ["body", {}, '4 null, 1 "text"'],
  ["order", { search: "a" }, "1 1, 1 2"],
  ["tags", {}, '2 null, 1 "3", 1 "x", 1 3'],
  ["tags", { where: { tags: [] } }, ""],
  ["title", { where: { or: [] } }, ""],
];
/** How often each value was counted, in the spelling of the table. */
const countsOf = ({ body }: Answer): readonly string[] =>
  (body.counts as { value: unknown; count: number }[]).map(({ value, count }) => `${count} ${JSON.stringify(value)}`);

const nested = (levels: number): Query => (levels === 0 ? { order: 1 } : { or: [nested(levels - 1)] });
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

const REFUSED: readonly (readonly [query: unknown, code: string, param?: string])[] = [
  [[], "invalid_body"],
  ["{}", "invalid_body"],
  [null, "invalid_body"],
  [3, "invalid_body"],
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
  [{ where: { count: 2 ** 53 } }, "invalid_value", "where.count"],
  [{ where: { title: "\u0000" } }, "invalid_value", "where.title"],
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
export const section: SuiteSection = {
  title: "Lists by a query in JSON",
  cases: [
    ...checkEach(
      REFUSED,
      ([query, code, param]) => `[G28] [G29] A query ${said(query)} is 400 ${code}${param ? ` at ${param}` : ""}.`,
      async (t, [query, code, param]) =>
        t.refused(await t.post(`${notes}/query`, query), code, param === undefined ? {} : { param }),
    ),
    ...checkEach(
      FINDS,
      ([query]) => `[G26] [G33] A query ${said(query)} has the matching records, and says how many on any page.`,
      async (t, [query, which]) => {
        const { within, list } = await five(t);
        t.is(await list(query), which, "the records found, in their order");
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
        const json = { ...within(query), countBy: field, limit: 0 };
        const answer = t.answered(await t.post(`${notes}/query`, json), 200, { data: [], has_more_counts: false });
        const found = countsOf(answer);
        t.is(found.toSorted(), (counts === "" ? [] : counts.split(", ")).toSorted(), "the counts");
        const times = found.map((text) => Number.parseInt(text, 10));
        t.is(
          times,
          times.toSorted((a, b) => b - a),
          "how often, from the most frequent on",
        );
      },
    ),
    check("[G34] [G43] An answer has up to 1 000 values, and says whether there are more.", async (t) => {
      const { deckId } = t.deck();
      const tags = (i: number) => Array.from({ length: i === 0 ? 12 : 11 }, (_, j) => i * 11 + j);
      const create = (i: number) => ({
        action: "create",
        model: NOTE,
        id: `${deckId}-${i}`,
        data: { deckId, tags: tags(i) },
      });
      t.answered(await t.commit(numbers(100).map(create)), 200);
      const query = (where: Query) =>
        t.post(`${notes}/query`, { where: { deckId, ...where }, countBy: "tags", limit: 0 });
      const all = countsOf(t.answered(await query({}), 200, { has_more_counts: true }));
      t.is([all.length, all[0]], [1_000, "2 11"], "the number of values, and the first one");
      const some = t.answered(await query({ id: { in: [`${deckId}-1`, `${deckId}-2`] } }), 200, {
        has_more_counts: false,
      });
      t.is(countsOf(some).length, 22, "the values of two records");
    }),
    check("[G29] The largest query is answered.", async (t) => {
      const { list } = await five(t);
      const large = numbers(99).map((i) => ({ count: { notIn: numbers(i < 9 ? 100 : 1) } }));
      t.is(await list({ where: { or: large } }), ALL, "the records that meet 100 conditions with many values");
      t.is(await list({ where: nested(9) }), [0], "the record that meets a condition ten levels down");
      const orderBy = ["state", "count", "order", "title", "body", "$createdAt", "$updatedBy", "$syncId"];
      t.is(await list({ orderBy }), [3, 0, 4, 1, 2], "the records by eight keys");
    }),
    check("[G26] [G34] A query asks, and counts, who wrote a record, when, and at which position.", async (t) => {
      const { path, id, at } = await t.note();
      const record = t.answered(await t.get(path), 200).body;
      const list = async (where: Query) => idsOf(t.answered(await t.post(`${notes}/query`, { where }), 200));
      const by = String(record.createdBy);
      for (const where of [
        { $createdAt: record.createdAt },
        { $syncId: at },
        { $syncId: { gt: at - 0.5, lt: at + 0.5 } },
        { $createdBy: { startsWith: by.slice(0, 5) } },
        { $createdBy: { search: by.toUpperCase() } },
      ])
        t.is(await list({ id, ...where }), [id], `the records with ${said(where)}`);
      for (const where of [
        { $updatedBy: { not: by } },
        { $createdBy: { search: id } },
        { $createdBy: { contains: id } },
      ])
        t.is(await list({ id, ...where }), [], `the records with ${said(where)}`);
      for (const countBy of ["id", "createdAt", "updatedAt", "createdBy", "updatedBy", "syncId", "archivedAt"]) {
        const json = { where: { id }, countBy: countBy === "id" ? "id" : `$${countBy}`, limit: 0 };
        const answer = t.answered(await t.post(`${notes}/query`, json), 200);
        t.is(countsOf(answer), [`1 ${JSON.stringify(record[countBy])}`], `the counts by ${countBy}`);
      }
    }),
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
      t.refused(await t.get(`${notes}/query`), "record_not_found");
    }),
  ],
};
