import { NOTE } from "../environment/models.ts";
import { idsOf } from "../protocol/answers.ts";
import type { Kit } from "./kit.ts";

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
export const ALL = [0, 1, 2, 3, 4];

export type Query = Readonly<Record<string, unknown>>;

/** Five notes of a new deck. */
export async function five(t: Kit) {
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
export const FINDS: readonly (readonly [query: Query, which: readonly number[]])[] = [
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

/** A value as a title has it. */
export const said = (value: unknown) => {
  const text = JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
};
