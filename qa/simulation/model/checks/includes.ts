import type { AnyInclude, AnyQuery } from "../../../../packages/sdk/src/api/lists/list-query.ts";
import type { Json, JsonObject } from "../../../../packages/sdk/src/protocol/json.ts";
import { jsonEqual } from "../../../../packages/sdk/src/protocol/json-equal.ts";
import type { SeededRandom } from "../../../support/seeded-random.ts";
import type { Tab } from "../client/tab.ts";
import type { Simulation } from "../simulation.ts";
import { type Check, first, isWithheld } from "./checks.ts";

/*
 * Lists that include other records are kept up to date change by change. Here the same query is answered with plain
 * loops over what plain lists show. The queries are few enough for most of them to be asked again after changes.
 */

type Model = "slide" | "note" | "card";

/** By model: the relations by name. `one` has the other's id in the field; of an inverse one the other has this id. */
const RELATIONS: Readonly<
  Record<Model, Readonly<Record<string, { of: Model; field: string; kind: "one" | "inverse" }>>>
> = {
  slide: {
    children: { of: "note", field: "slide", kind: "inverse" },
    cards: { of: "card", field: "slide", kind: "inverse" },
  },
  note: { slide: { of: "slide", field: "slide", kind: "one" } },
  card: {
    slide: { of: "slide", field: "slide", kind: "one" },
    parent: { of: "card", field: "parent", kind: "one" },
    next: { of: "card", field: "next", kind: "one" },
    kids: { of: "card", field: "parent", kind: "inverse" },
  },
};

const WHERE: Readonly<Record<Model, { conditions: Record<string, Json>; meets: (row: JsonObject) => boolean }>> = {
  slide: { conditions: { votes: { gt: 0 } }, meets: ({ votes }) => typeof votes === "number" && votes > 0 },
  note: { conditions: { slide: "shared-0" }, meets: ({ slide }) => slide === "shared-0" },
  card: { conditions: { code: "code-0" }, meets: ({ code }) => code === "code-0" },
};

/** The field by which each is sorted, if not by the id. */
const ORDER: Readonly<Record<Model, string>> = { slide: "order", note: "slide", card: "code" };

/** How often one is asked after a thing that happened, in percent. */
const OFTEN = 4;

export const includesNowAndThen: Check = {
  name: "lists that include records show what the query says",
  check: (simulation, tabs) =>
    simulation.queries.percent(OFTEN) ? first(tabs, (tab) => wrongInclude(simulation, tab)) : undefined,
};

export const includesInTheEnd: Check = {
  name: includesNowAndThen.name,
  check: (simulation, tabs) => first(tabs, (tab) => first([1, 2, 3, 4], () => wrongInclude(simulation, tab))),
};

function wrongInclude(simulation: Simulation, tab: Tab): string | undefined {
  if (!tab.isReady || tab.closing !== "no" || isWithheld(tab)) return undefined;
  const { queries } = simulation;
  const model = queries.oneOf(["slide", "note", "card"] as const);
  const query = someQuery(queries, model, 1 + queries.below(2));
  simulation.count("query with include");
  const shown = (tab.client.models[model] as unknown as Listing).list(query);
  const expected = answer(recordsShownBy(tab), model, query);
  if (jsonEqual(shown as Json, expected)) return undefined;
  return `${tab.name} shows of ${model} ${JSON.stringify(query)}: ${JSON.stringify(shown)}, and not ${JSON.stringify(expected)}`;
}

function someQuery(chance: SeededRandom, model: Model, depth: number): AnyQuery {
  const archived = chance.weighed({ without: 6, with: 2, only: 1 });
  const isDown = chance.percent(50);
  return {
    ...(archived !== "without" && { archived }),
    ...(chance.percent(30) && { where: WHERE[model].conditions }),
    ...(chance.percent(30) && { orderBy: ORDER[model], order: isDown ? "desc" : "asc" }),
    ...(chance.percent(30) && { limit: 1 + chance.below(2) }),
    ...(depth > 0 && { include: someInclude(chance, model, depth) }),
  };
}

const someInclude = (chance: SeededRandom, model: Model, depth: number): AnyInclude =>
  Object.fromEntries(
    Object.entries(RELATIONS[model])
      .filter(() => chance.percent(60))
      .map(([name, { of }]) => [name, chance.percent(50) || someQuery(chance, of, depth - 1)]),
  );

interface Listing {
  list(query: AnyQuery): readonly JsonObject[];
}

type Records = Readonly<Record<Model, readonly { readonly row: JsonObject; readonly isArchived: boolean }[]>>;

function recordsShownBy({ client: { models } }: Tab): Records {
  const of = (model: Model) =>
    (["without", "only"] as const).flatMap((archived) =>
      (models[model] as unknown as Listing).list({ archived }).map((row) => ({
        row: { ...row },
        isArchived: archived === "only",
      })),
    );
  return { slide: of("slide"), note: of("note"), card: of("card") };
}

function answer(records: Records, model: Model, asked: AnyQuery, meets?: (row: JsonObject) => boolean): JsonObject[] {
  const {
    archived = "without",
    where,
    orderBy = "id",
    order = "asc",
    limit = Number.POSITIVE_INFINITY,
    include,
  } = asked;
  return records[model]
    .filter(({ isArchived }) => archived === "with" || isArchived === (archived === "only"))
    .map(({ row }) => row)
    .filter((row) => (!where || WHERE[model].meets(row)) && (!meets || meets(row)))
    .sort((a, b) => inOrder(a, b, orderBy as string, order === "desc" ? -1 : 1))
    .slice(0, limit)
    .map((row) => ({ ...row, ...included(records, model, row, include) }));
}

function included(records: Records, model: Model, row: JsonObject, include: AnyInclude = {}): JsonObject {
  return Object.fromEntries(
    Object.entries(include).map(([name, wanted]): [string, Json] => {
      const { of, field, kind } = RELATIONS[model][name] as (typeof RELATIONS)[Model][string];
      const query = typeof wanted === "object" ? wanted : {};
      const found = answer(records, of, query, (other) =>
        kind === "one" ? other.id === row[field] : other[field] === row.id,
      );
      return [name, kind === "one" ? (found[0] ?? null) : found];
    }),
  );
}

/** Records without a value come last in either direction. */
function inOrder(a: JsonObject, b: JsonObject, field: string, sign: 1 | -1): number {
  const [left, right] = [a[field] ?? null, b[field] ?? null] as (string | number | null)[];
  if (left === right) return sign * ((a.id as string) < (b.id as string) ? -1 : 1);
  if (left === null || right === null) return left === null ? 1 : -1;
  return sign * ((left as string) < (right as string) ? -1 : 1);
}
