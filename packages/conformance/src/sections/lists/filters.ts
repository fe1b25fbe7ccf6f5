import { someText } from "../../assertions/pattern.ts";
import { NOTE, WHOLE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { idsOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;
const enc = encodeURIComponent;

const ROWS = [
  { title: "a b", order: 1, count: 10, done: true, at: "2024-01-01T12:00:00Z", state: "draft", tags: ["x"] },
  { title: "a&b=c", order: 2, count: 20, done: false, at: "2024-01-01T13:00:00Z", state: "final", body: null },
  { title: "é🙂", order: 2.5, count: -3, at: "2024-01-02T00:00:00+02:00", body: "text" },
  { title: "", order: 10 },
] as const;

async function four(t: Kit) {
  const { deckId } = t.deck();
  const ids = ROWS.map((_, i) => `${deckId}-${i}`);
  t.answered(
    await t.commit(ROWS.map((data, i) => ({ action: "create", model: NOTE, id: ids[i], data: { deckId, ...data } }))),
    200,
  );
  const list = async (query: string) => {
    const answer = t.answered(await t.get(`${notes}?filter[deckId]=${deckId}&${query}`), 200);
    return idsOf(answer).map((id) => ids.indexOf(String(id)));
  };
  return { deckId, ids, list };
}

/** A query, and which of the four records it finds. */
const FINDS: readonly (readonly [query: string, which: readonly number[]])[] = [
  [`filter[title]=${enc("a b")}`, [0]],
  [`filter[title]=${enc("a&b=c")}`, [1]],
  [`title=${enc("é🙂")}`, [2]],
  ["filter[title]=", [3]],
  ["filter[order]=2.5", [2]],
  ["order_by=order&filter[order]=10", [3]],
  ["filter[order]=1e1", [3]],
  ["count=-3", [2]],
  ["filter[done]=true", [0]],
  ["done=false", [1]],
  ["filter[state]=final", [1]],
  [`filter[at]=${enc("2024-01-01T14:00:00+02:00")}`, [0]],
  ["filter[order][gt]=2", [2, 3]],
  ["filter[order][gte]=2", [1, 2, 3]],
  ["filter[order][lt]=2", [0]],
  ["filter[order][lte]=2", [0, 1]],
  ["filter[order][gt]=1&filter[order][lt]=10", [1, 2]],
  ["filter[count][lt]=0", [2]],
  [`filter[at][gte]=${enc("2024-01-01T13:00:00Z")}`, [1, 2]],
  [`filter[at][lt]=${enc("2024-01-01T15:00:00+02:00")}`, [0]],
  [`filter[title][gte]=${enc("a")}&filter[title][lt]=${enc("b")}`, [0, 1]],
  ["filter[body][null]=true", [0, 1, 3]],
  ["filter[count][null]=true", [3]],
  ["filter[done][null]=true", [2, 3]],
  [`filter[title][not]=${enc("a b")}`, [1, 2, 3]],
  ["filter[done][not]=true", [1, 2, 3]],
  [`filter[title][in]=${enc('["a b",""]')}`, [0, 3]],
  [`filter[count][in]=${enc("[10,null]")}`, [0, 3]],
  [`filter[order][notIn]=${enc("[1,10]")}`, [1, 2]],
  [`filter[title][contains]=${enc("a")}`, [0, 1]],
  [`filter[title][contains]=${enc("A")}`, []],
  [`filter[tags][contains]=${enc("x")}`, [0]],
  [`filter[title][startsWith]=${enc("a&")}`, [1]],
  [`filter[title][search]=${enc("B A")}`, [0, 1]],
  [`filter[title][search]=${enc("b=C")}`, [1]],
  [`filter[title][search]=${enc("É")}`, [2]],
  [`filter[title][search]=${enc("e")}`, []],
  [`filter[title][search]=${enc(" ")}`, [0, 1, 2, 3]],
  [`search=${enc("TEXT é")}`, [2]],
  [`search=${enc("text a")}`, []],
  [`search=${enc("B a")}`, [0, 1]],
  [`search=${enc("a")}&filter[order]=2`, [1]],
  ["filter[order]=2&filter[done]=false", [1]],
  ["filter[order]=2&filter[done]=true", []],
  ["filter[order][gte]=2&filter[count][lt]=20", [2]],
  ["filter[count][gte]=-3&filter[count][null]=true", []],
];

/** A query, how it is refused, and the parameter that the error names: the first one, unless it says another. */
const REFUSED: readonly (readonly [query: string, code: string, param?: string])[] = [
  ["filter[colour]=red", "unknown_column"],
  ["toString=1", "unknown_column"],
  ["__proto__=1", "unknown_column"],
  ["colour=red", "unknown_column"],
  ["filter[Title]=x", "unknown_column"],
  ["filter[tags]=a", "unknown_column"],
  ["filter[extra]=a", "unknown_column"],
  ["filter[extra][null]=true", "unknown_column"],
  ["filter[__proto__]=a", "unknown_column"],
  ["filter[constructor]=a", "unknown_column"],
  ["filter[order]=abc", "invalid_type"],
  ["filter[order]=", "invalid_type"],
  ["filter[order]=0x10", "invalid_type"],
  ["filter[count]=1.5", "invalid_type"],
  ["filter[done]=1", "invalid_type"],
  ["filter[done]=TRUE", "invalid_type"],
  ["filter[order][gt]=abc", "invalid_type"],
  ["filter[order][in]=1", "invalid_type"],
  ["filter[order][contains]=1", "invalid_type"],
  ["filter[order][search]=1", "invalid_type"],
  [`filter[title][search]=${enc(Array.from({ length: 21 }, (_, i) => `w${i}`).join(" "))}`, "invalid_value"],
  ["filter[tags][startsWith]=a", "unknown_column"],
  ["filter%5Border%5D%5Bgt%5D=", "invalid_type"],
  ["filter[order]=9007199254740993", "invalid_value"],
  ["done=1", "invalid_type"],
  // A plus sign is a space.
  ["at=2024-01-01T00:00:00+02:00", "invalid_type"],
  ["filter[title][null]=1", "invalid_type"],
  ["filter[title][like]=1", "unknown_column"],
  ["filter[title=1", "unknown_column"],
  ["filter=1", "unknown_column"],
  ["title=a&filter[title]=a", "invalid_value", "filter[title]"],
  ["title=a&title=a", "invalid_value"],
  ["title=%00", "invalid_value"],
  ["a%00b=1", "unknown_column"],
];
const firstParameter = (query: string) => decodeURIComponent(query.slice(0, query.indexOf("=")));

export const section: SuiteSection = {
  title: "Filters of lists",
  cases: [
    ...checkEach(
      FINDS,
      ([query]) => `[G8] A list with ${decodeURIComponent(query)} has the matching records and no others.`,
      async (t, [query, which]) => {
        const { list } = await four(t);
        t.is([...(await list(query))].sort(), which, "the records found");
      },
    ),
    ...checkEach(
      REFUSED,
      ([query, code]) => `[G9] A list with ${query} is 400 ${code}, and the parameter is named.`,
      async (t, [query, code, param = firstParameter(query)]) =>
        t.refused(await t.get(`${notes}?${query}`), code, { param }),
    ),
    check("[G9] A list of an unknown model is refused as such, whatever its filters.", async (t) => {
      t.refused(await t.get("/v1/models/ConfNothing?title=1"), "unknown_model");
    }),
    check("[G20] A search of a model without a field that is indexed for it is 400 invalid_value.", async (t) => {
      t.refused(await t.get(`/v1/models/${WHOLE}?search=a`), "invalid_value", { param: "search" });
    }),
    check("[G9] A filter with an unknown operator, and null=maybe, are 400.", async (t) => {
      for (const query of [
        "filter[order][near]=1",
        "filter[order][]=1",
        "filter[body][null]=maybe",
        "filter[order",
        "filter[]=1",
      ])
        t.answered(await t.get(`${notes}?${query}`), 400, { type: "validation_error" });
    }),
    check("[G8] ids selects exactly these records; missing ones are left out.", async (t) => {
      const { ids } = await four(t);
      const answer = t.answered(await t.get(`${notes}?ids=${ids[2]},${ids[0]},${t.id()}`), 200, { has_more: false });
      t.is(idsOf(answer), [ids[0], ids[2]], "ids, in the list's own order");
      t.is(idsOf(await t.get(`${notes}?ids=${ids.join()}&filter[done]=true`)), [ids[0]], "ids that a filter finds");
    }),
    check("[H6] ids takes up to 100 valid ids, not 101.", async (t) => {
      const ids = Array.from({ length: 101 }, () => t.id());
      t.answered(await t.get(`${notes}?ids=${ids.slice(0, 100).join(",")}`), 200, { data: [] });
      t.answered(await t.get(`${notes}?ids=${ids.join(",")}`), 400, { type: "validation_error", param: "ids" });
      for (const wrong of [enc("a b"), "a,,b", ""])
        t.refused(await t.get(`${notes}?ids=${wrong}`), "invalid_id", { param: "ids" });
      t.refused(await t.get(`${notes}?ids=a%00`), "invalid_value", { param: "ids" });
    }),
    check("[G4] [G8] Filters, order and pages work together, and the cursor is bound to the filter.", async (t) => {
      const { deckId, ids } = await four(t);
      const address = `${notes}?filter[deckId]=${deckId}&filter[order][gte]=2&order_by=order&order=desc&limit=2`;
      const first = t.answered(await t.get(address), 200, { has_more: true, next_cursor: someText });
      t.is(idsOf(first), [ids[3], ids[2]], "ids of the first page");
      const cursor = `starting_after=${enc(String(first.body.next_cursor))}`;
      const second = t.answered(await t.get(`${address}&${cursor}`), 200, { has_more: false, next_cursor: null });
      t.is(idsOf(second), [ids[1]], "ids of the second page");
      const same = `filter[order][gte]=2.0&filter[deckId]=${deckId}&order_by=order&order=desc`;
      t.is(idsOf(await t.get(`${notes}?${same}&${cursor}`)), [ids[1]], "ids by the same filters, written otherwise");
      for (const other of [
        address.replace("[gte]=2", "[gte]=1"),
        address.replace("[gte]=2", "[gt]=2"),
        address.replace("filter[order][gte]=2&", ""),
        address.replace(deckId, t.id()),
      ])
        t.refused(await t.get(`${other}&${cursor}`), "invalid_cursor");
    }),
    check(
      "[G20] A search, filters, order and pages work together, and the cursor is bound to the search.",
      async (t) => {
        const { deckId, ids, list } = await four(t);
        t.is(await list("search=a&filter[title][startsWith]=a&order=desc"), [1, 0], "the records found");
        for (const word of [deckId, "draft"])
          t.is(await list(`search=${word}`), [], "the records found by a word of a field that is not indexed for it");
        const address = `${notes}?filter[deckId]=${deckId}&search=a&limit=1`;
        const first = t.answered(await t.get(address), 200, { has_more: true, next_cursor: someText });
        t.is(idsOf(first), [ids[0]], "ids of the first page");
        const cursor = `starting_after=${enc(String(first.body.next_cursor))}`;
        t.is(idsOf(await t.get(`${address}&${cursor}`)), [ids[1]], "ids of the second page");
        t.refused(await t.get(`${address.replace("search=a", "search=b")}&${cursor}`), "invalid_cursor");
      },
    ),
    check("[G8] A filter's value is data, never part of the query.", async (t) => {
      const { list } = await four(t);
      for (const value of ["' or 1=1 --", "%", "_", '"', "\\", "a'; drop table x; --"])
        t.is(await list(`filter[title]=${enc(value)}`), [], `the records found for ${value}`);
    }),
    check(
      "[G8] field=x is the same filter as filter[field]=x; a field with the name of a parameter needs the second form.",
      async (t) => {
        const { ids, deckId, list } = await four(t);
        t.is(await list("state=live&filter[state]=draft"), [0], "the records found");
        const bare = t.answered(await t.get(`${notes}?deckId=${deckId}`), 200);
        t.is(idsOf(bare), ids, "ids of the bare filter");
      },
    ),
  ],
};
