import { absent, atLeast, exactly, flag, oneOf, orNull, row, someText } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import type { Answer } from "../../protocol/answers.ts";
import { idsOf, rowsOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;
type Data = Readonly<Record<string, unknown>>;

/** Notes of a new deck, with ids that sort in this order. */
async function deckOf(t: Kit, ...rows: readonly Data[]) {
  const { deckId } = t.deck();
  const ids = rows.map((_, i) => `${deckId}-${String(i).padStart(3, "0")}`);
  const operations = rows.map((data, i) => ({ action: "create", model: NOTE, id: ids[i], data: { deckId, ...data } }));
  for (let i = 0; i < operations.length; i += 100) t.answered(await t.commit(operations.slice(i, i + 100)), 200);
  return { deckId, ids, query: `filter[deckId]=${deckId}`, idsQuery: `ids=${ids.join(",")}` };
}
const many = (count: number, data: (i: number) => Data = () => ({})) =>
  Array.from({ length: count }, (_, i) => data(i));

/** All pages of a list, each id in the order in which it came. */
async function pages(
  t: Kit,
  address: string,
  limit: number,
  between: (page: Answer) => Promise<unknown> = async () => {},
) {
  const found: string[] = [];
  let cursor: unknown = null;
  for (let n = 0; n < 200; n++) {
    const after = cursor === null ? "" : `&starting_after=${encodeURIComponent(String(cursor))}`;
    const page = t.answered(await t.get(`${address}&limit=${limit}${after}`), 200, {
      has_more: flag,
      next_cursor: orNull(someText),
    });
    t.that(rowsOf(page).length <= limit, `at most ${limit} records on a page`, rowsOf(page).length);
    t.is(page.body.has_more, page.body.next_cursor !== null, "has_more, by next_cursor");
    found.push(...idsOf(page).map(String));
    cursor = page.body.next_cursor;
    if (cursor === null) return found;
    await between(page);
  }
  throw new Error(`${address} has no end.`);
}

/** The order that a list should have: absent values come last in both directions; ties by id. */
function inOrder(
  ids: readonly string[],
  values: readonly unknown[],
  order: "asc" | "desc",
  compare: (a: never, b: never) => number,
) {
  const sign = order === "asc" ? 1 : -1;
  return ids
    .map((id, i) => ({ id, value: values[i] ?? null }))
    .sort((a, b) => {
      if (a.value === null || b.value === null)
        return a.value === b.value ? sign * (a.id < b.id ? -1 : 1) : a.value === null ? 1 : -1;
      return sign * (compare(a.value as never, b.value as never) || (a.id < b.id ? -1 : 1));
    })
    .map(({ id }) => id);
}
const RANKS = ["draft", "final", "archive"];
const byCodePoint = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
/** Microseconds, which Date does not have, decide last. */
const byInstant = (a: string, b: string) => Date.parse(a) - Date.parse(b) || micros(a) - micros(b);
const micros = (text: string) => Number((/\.(\d+)/.exec(text)?.[1] ?? "").padEnd(6, "0").slice(0, 6));
const byNumber = (a: number, b: number) => a - b;

const COLUMNS: readonly (readonly [
  column: string,
  values: readonly unknown[],
  compare: (a: never, b: never) => number,
  how: string,
])[] = [
  ["order", [3, 1, 2, 1, -5, 0.5, -2.5, 10, 1], byNumber, "numbers by size"],
  ["count", [3, null, 2, null, -5, 3], byNumber, "absent ones last"],
  [
    "title",
    ["b", "a", "B", "é", "z", "ee", "ﬁ", "🙂", "𝕳", "\ufffd", "\uffff", "", null, "10", "9", "_", "a"],
    byCodePoint,
    "texts by code point",
  ],
  ["body", ["b", null, "a", null], byCodePoint, "null last"],
  [
    "at",
    [
      ...["2024-01-01T12:00:00Z", "2024-01-01T13:00:00+02:00", "2023-06-01T00:00:00Z", null, "2024-01-01T11:30:00.5Z"],
      ...["2024-01-01T12:00:00.000001Z", "0001-01-01T00:00:00+10:00", "9999-12-31T23:59:59Z"],
    ],
    byInstant,
    "date-times as instants",
  ],
  ["done", [true, false, null, true, false], byNumber, "false before true"],
  ["state", ["final", "draft", null, "draft"], byCodePoint, "values of an enum as texts"],
];

export const section: SuiteSection = {
  title: "Lists",
  cases: [
    check("[G3] A list answers with the list envelope, which has every documented field.", async (t) => {
      const { idsQuery, ids, deckId } = await deckOf(t, { title: "a" }, { title: "b" });
      const answer = t.answered(await t.get(`${notes}?${idsQuery}`), 200, {
        object: "list",
        model: NOTE,
        has_more: false,
        next_cursor: null,
        stamp: atLeast(1),
        archived: oneOf(absent, exactly({})),
      });
      t.fits(
        rowsOf(answer),
        [row({ id: ids[0], deckId, title: "a", order: 0 }), row({ id: ids[1], deckId, title: "b", order: 0 })],
        "data",
      );
      t.is(Object.keys(rowsOf(answer)[0] ?? {})[0], "id", "the first key of a record");
    }),
    check("[G4] A page has 20 records unless limit says otherwise.", async (t) => {
      const { idsQuery, ids } = await deckOf(t, ...many(45));
      const first = t.answered(await t.get(`${notes}?${idsQuery}`), 200, { has_more: true, next_cursor: someText });
      t.is(idsOf(first), ids.slice(0, 20), "ids of the first page");
      const one = t.answered(await t.get(`${notes}?${idsQuery}&limit=1`), 200, { has_more: true });
      t.is(idsOf(one), ids.slice(0, 1), "ids of a page of one");
      const all = t.answered(await t.get(`${notes}?${idsQuery}&limit=100`), 200, {
        has_more: false,
        next_cursor: null,
      });
      t.is(idsOf(all), ids, "ids of a page of a hundred");
    }),
    ...checkEach(
      ["0", "-1", "101", "1e2", "abc", "", "1.5", "+5", "0x10", "01", " 5", "1 ", "５", "99999999999999999999"],
      (limit) => `[H6] limit=${limit || "(nothing)"} is 400 invalid_limit: never clamped, never coerced.`,
      async (t, limit) =>
        t.refused(await t.get(`${notes}?limit=${encodeURIComponent(limit)}`), "invalid_limit", { param: "limit" }),
    ),
    check("[H6] limit twice is 400.", async (t) =>
      t.answered(await t.get(`${notes}?limit=5&limit=6`), 400, { type: "validation_error", param: "limit" }),
    ),
    check("[G3] Records are sorted by id, ascending by default; desc reverses the order.", async (t) => {
      const { idsQuery, ids } = await deckOf(t, ...many(7));
      t.is(idsOf(await t.get(`${notes}?${idsQuery}`)), ids, "ids");
      t.is(idsOf(await t.get(`${notes}?${idsQuery}&order=asc`)), ids, "ids of order=asc");
      t.is(idsOf(await t.get(`${notes}?${idsQuery}&order=desc`)), [...ids].reverse(), "ids of order=desc");
      t.is(idsOf(await t.get(`${notes}?${idsQuery}&order_by=id&order=desc`)), [...ids].reverse(), "ids of order_by=id");
      t.answered(await t.get(`${notes}?order=down`), 400, { type: "validation_error", param: "order" });
      t.answered(await t.get(`${notes}?order=ASC`), 400, { type: "validation_error", param: "order" });
    }),
    ...checkEach(
      COLUMNS,
      ([column, , , how]) => `[G3] [G4] order_by=${column} sorts ${how}, in both directions, over pages, ties by id.`,
      async (t, [column, values, compare]) => {
        const { idsQuery, ids } = await deckOf(
          t,
          ...values.map((value) => (value === null && column !== "body" ? {} : { [column]: value })),
        );
        for (const order of ["asc", "desc"] as const) {
          const expected = inOrder(ids, values, order, compare);
          const address = `${notes}?${idsQuery}&order_by=${column}&order=${order}`;
          t.is(idsOf(await t.get(address)), expected, `ids of ${order}`);
          t.is(await pages(t, address, 2), expected, `ids of ${order} over pages of two`);
        }
      },
    ),
    check("[G22] order_by=state:values sorts an enum in the order of its values, over pages.", async (t) => {
      const states = ["final", "archive", null, "draft", "archive", "final"];
      const { idsQuery, ids } = await deckOf(t, ...states.map((state) => (state === null ? {} : { state })));
      const byRank = (a: string, b: string) => RANKS.indexOf(a) - RANKS.indexOf(b);
      for (const order of ["asc", "desc"] as const) {
        const expected = inOrder(ids, states, order, byRank);
        const address = `${notes}?${idsQuery}&order_by=state:values&order=${order}`;
        t.is(await pages(t, address, 2), expected, `ids of ${order} over pages of two`);
      }
    }),
    check("[G3] order_by=createdAt and order_by=updatedAt sort by the record's times.", async (t) => {
      const { idsQuery, ids } = await deckOf(t, {}, {}, {});
      const [a, b, c] = ids as [string, string, string];
      for (const id of [b, a]) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        t.answered(await t.patch(`${notes}/${id}`, { data: { title: "later" } }), 200);
      }
      t.is(idsOf(await t.get(`${notes}?${idsQuery}&order_by=updatedAt`)), [c, b, a], "ids by updatedAt");
      t.is(
        idsOf(await t.get(`${notes}?${idsQuery}&order_by=updatedAt&order=desc`)),
        [a, b, c],
        "ids by updatedAt, desc",
      );
      t.is(idsOf(await t.get(`${notes}?${idsQuery}&order_by=createdAt`)), ids, "ids by createdAt");
    }),
    check("[G18] [G40] Lists are sorted and filtered by createdBy and updatedBy, as by text.", async (t) => {
      const { idsQuery, ids } = await deckOf(t, {}, {});
      const [first] = ids as [string];
      const { createdBy } = (await t.get(`${notes}/${first}`)).body;
      const writer = encodeURIComponent(String(createdBy));
      for (const name of ["createdBy", "updatedBy"]) {
        const filtered = async (filter: string) => idsOf(await t.get(`${notes}?${idsQuery}&${filter}`));
        t.is(await filtered(`order_by=${name}&order=desc`), [...ids].reverse(), "ids in order");
        t.is(await filtered(`filter[${name}]=${writer}`), ids, "ids of the writer");
        t.is(await filtered(`filter[${name}][not]=${writer}`), [], "ids of others");
        t.is(await filtered(`filter[${name}][startsWith]=${writer.slice(0, 3)}`), ids, "ids of the kind");
        t.is(await filtered(`filter[${name}][contains]=${writer.slice(-3)}`), ids, "ids of the end");
        const inCapitals = encodeURIComponent(String(createdBy).toUpperCase());
        t.is(await filtered(`filter[${name}][search]=${inCapitals}`), ids, "ids by a search for the writer");
        t.is(await filtered(`filter[${name}][search]=${first}`), [], "ids by a search for an id");
        t.is(await filtered(`filter[${name}][null]=true`), [], "ids without");
        t.is(await pages(t, `${notes}?${idsQuery}&order_by=${name}`, 1), ids, "ids over pages of one");
      }
    }),
    check("[G8] Lists are filtered by createdAt and updatedAt, as by date-times.", async (t) => {
      const { idsQuery, ids } = await deckOf(t, {}, {});
      const path = `${notes}/${ids[0]}`;
      const createdAt = String((await t.get(path)).body.createdAt);
      const hourLater = new Date(Date.parse(createdAt) + 3_600_000).toISOString().replace("Z", "+01:00");
      const filtered = async (filter: string, value: string) =>
        idsOf(await t.get(`${notes}?${idsQuery}&${filter}=${encodeURIComponent(value)}`));
      t.is(await filtered("createdAt", hourLater), ids, "ids of that time, of another zone");
      t.is(await filtered("filter[createdAt][gt]", createdAt), [], "ids that were created later");
      await new Promise((resolve) => setTimeout(resolve, 5));
      t.answered(await t.patch(path, { data: { title: "later" } }), 200);
      t.is(await filtered("filter[updatedAt][gt]", createdAt), ids.slice(0, 1), "ids that were changed later");
    }),
    ...checkEach(
      [
        ...["colour", "title:values", "state:", "ID", "tags", "extra", "password_hash", "title;drop table x", "id--"],
        ...["(select 1)", "__proto__", "constructor", "sync_id", "tenant", "data", "title'", '"id"', ""],
      ],
      (column) => `[H6] order_by=${column || "(nothing)"} is 400 unknown_column.`,
      async (t, column) =>
        t.refused(await t.get(`${notes}?order_by=${encodeURIComponent(column)}`), "unknown_column", {
          param: "order_by",
        }),
    ),
    ...checkEach(
      ["id", "order"],
      (by) =>
        `[G4] Pages by ${by} have every record once, even if others, and the one at the cursor, are deleted between them.`,
      async (t, by) => {
        const { idsQuery, ids } = await deckOf(t, ...many(12, (i) => ({ order: i % 3 })));
        const [gone, seen] = [new Set<string>(), new Set<string>()];
        const found = await pages(t, `${notes}?${idsQuery}&order_by=${by}`, 3, async (page) => {
          for (const id of idsOf(page).map(String)) seen.add(id);
          // The record at the cursor, one before it, and one after it.
          const [first, , last] = idsOf(page).map(String);
          const next = ids.find((id) => !seen.has(id) && !gone.has(id));
          if (next !== undefined) gone.add(next);
          for (const id of [first, last, next]) if (id !== undefined) t.answered(await t.remove(`${notes}/${id}`), 200);
        });
        t.that(gone.size >= 2, "some records to be deleted", gone.size);
        t.is(new Set(found).size, found.length, "how many different records came");
        t.is(
          [...found].sort(),
          ids.filter((id) => !gone.has(id)),
          "the records that were not deleted before they came",
        );
      },
    ),
    check(
      "[G4] Later pages do not have a record that was added before the cursor, and have one that was added after it.",
      async (t) => {
        const { deckId } = t.deck();
        const name = (n: number) => `${deckId}-${n}`;
        const all = [1, 2, 3, 4, 5, 6].map(name);
        const create = (n: number) => t.post(notes, { id: name(n), data: { deckId } });
        for (const n of [2, 3, 4, 6]) t.answered(await create(n), 200);
        const first = t.answered(await t.get(`${notes}?ids=${all.join(",")}&limit=2`), 200, { next_cursor: someText });
        t.answered(await create(1), 200);
        t.answered(await create(5), 200);
        const cursor = encodeURIComponent(String(first.body.next_cursor));
        const second = t.answered(await t.get(`${notes}?ids=${all.join(",")}&limit=5&starting_after=${cursor}`), 200);
        t.is([...idsOf(first), ...idsOf(second)], [2, 3, 4, 5, 6].map(name), "ids of both pages");
      },
    ),
    ...checkEach(
      ["x", "", "null", "MQ==", "eyJpZCI6ImEifQ", "../..", "a".repeat(5_000), "\u0000"],
      (cursor) => `[G4] The cursor ${JSON.stringify(cursor.slice(0, 20))} is 400 invalid_cursor.`,
      async (t, cursor) =>
        t.refused(await t.get(`${notes}?starting_after=${encodeURIComponent(cursor)}`), "invalid_cursor"),
    ),
    check("[G4] A cursor that was changed by one character is 400 invalid_cursor.", async (t) => {
      const { idsQuery } = await deckOf(t, ...many(3));
      const { body } = t.answered(await t.get(`${notes}?${idsQuery}&limit=1`), 200, { next_cursor: someText });
      const cursor = String(body.next_cursor);
      for (const at of [0, Math.floor(cursor.length / 2)]) {
        const forged = cursor.slice(0, at) + (cursor[at] === "A" ? "B" : "A") + cursor.slice(at + 1);
        const answer = await t.get(`${notes}?${idsQuery}&limit=1&starting_after=${encodeURIComponent(forged)}`);
        t.refused(answer, "invalid_cursor");
      }
      // A cursor with one character more or less is invalid too, in every spelling.
      for (const other of [...["=", "!", " ", "A", "."].map((sign) => cursor + sign), cursor.slice(0, -1)])
        t.refused(
          await t.get(`${notes}?${idsQuery}&limit=1&starting_after=${encodeURIComponent(other)}`),
          "invalid_cursor",
        );
    }),
    check(
      "[G4] A cursor belongs to its list: with another model, order, column, state or filter it is 400 invalid_cursor.",
      async (t) => {
        const { idsQuery, ids } = await deckOf(t, ...many(3));
        const { body } = t.answered(await t.get(`${notes}?${idsQuery}&limit=1&order_by=order`), 200, {
          next_cursor: someText,
        });
        const cursor = `starting_after=${encodeURIComponent(String(body.next_cursor))}`;
        for (const other of [
          `${notes}?${idsQuery}&order_by=title&${cursor}`,
          `${notes}?${idsQuery}&order_by=order&order=desc&${cursor}`,
          `${notes}?${idsQuery}&order_by=order&state=all&${cursor}`,
          `${notes}?ids=${ids[0]}&order_by=order&${cursor}`,
          `${notes}?order_by=order&${cursor}`,
          `/v1/models/ConfWhole?${idsQuery}&${cursor}`,
          `/v1/snapshot?${cursor}`,
        ])
          t.refused(await t.get(other), "invalid_cursor");
        const next = t.answered(await t.get(`${notes}?${idsQuery}&limit=2&order_by=order&${cursor}`), 200);
        t.is(idsOf(next), ids.slice(1), "ids of the right list, also with another limit");
      },
    ),
    check("[G4] A cursor belongs to its organization.", async (t) => {
      const { idsQuery } = await deckOf(t, ...many(3));
      const { body } = t.answered(await t.get(`${notes}?${idsQuery}&limit=1`), 200, { next_cursor: someText });
      const { key: token } = await t.freshTenant();
      const address = `${notes}?${idsQuery}&limit=1&starting_after=${encodeURIComponent(String(body.next_cursor))}`;
      t.refused(await t.get(address, { token }), "invalid_cursor");
    }),
    check(
      "[G1] stamp is never newer than the list: a client that reads the log from there misses nothing.",
      async (t) => {
        const { idsQuery, ids } = await deckOf(t, ...many(5));
        for (let i = 0; i < 8; i++) {
          const [write, list] = await Promise.all([
            t.patch(`${notes}/${ids[0]}`, { data: { order: i + 1 } }),
            t.get(`${notes}?${idsQuery}`),
          ]);
          t.answered(write, 200);
          const shown = rowsOf(t.answered(list, 200))[0]?.order;
          const newer = (await t.entries(Number(list.body.stamp), [String(ids[0])])).map(({ data }) => data?.order);
          t.that(
            shown === i + 1 || newer.includes(i + 1),
            "the write to be in the list, or in the log after its stamp",
            [shown, newer],
          );
        }
      },
    ),
  ],
};
