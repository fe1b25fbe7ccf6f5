import { jsonEqual } from "../core/json-equal.ts";
import { shownRow } from "../core/overlay.ts";
import type { ClientState } from "../core/state.ts";
import { refOf, tableOf } from "../core/tables.ts";
import type { Row } from "../protocol/apply.ts";
import type { Json, JsonObject } from "../protocol/json.ts";
import type { Model } from "../protocol/model-schema.ts";

/** A query as it comes from any model. */
export interface AnyQuery {
  readonly where?: Readonly<Record<string, unknown>> | undefined;
  readonly orderBy?: string | undefined;
  readonly order?: "asc" | "desc" | undefined;
  readonly limit?: number | undefined;
  readonly archived?: "without" | "only" | "with" | undefined;
}

interface LiveList {
  readonly table: string;
  readonly matches: (row: Row) => boolean;
  readonly compare: (a: JsonObject, b: JsonObject) => number;
  readonly limit: number;
  readonly byId: Map<string, JsonObject>;
  /** All that match, in order; `shown` is its beginning. */
  sorted: JsonObject[];
  shown: readonly JsonObject[];
  /** Records whose view may have changed since it was computed. */
  stale: Set<string> | "all";
}

/** Lists that were asked for are kept and mended, not computed anew: a change costs as much as the records it touched. */
const KEPT_LISTS = 200;

export class Lists {
  readonly #state: () => ClientState;
  readonly #lists = new Map<string, LiveList>();

  constructor(state: () => ClientState) {
    this.#state = state;
  }

  /** Called once after every step. */
  note({ touched }: ClientState): void {
    if (touched === "everything") {
      for (const list of this.#lists.values()) list.stale = "all";
      return;
    }
    for (const key of touched) {
      const { model, id } = refOf(key);
      for (const list of this.#lists.values()) if (list.table === model && list.stale !== "all") list.stale.add(id);
    }
  }

  list(model: string, query: AnyQuery): readonly JsonObject[] {
    const key = `${tableOf(model)} ${JSON.stringify(query)}`;
    let list = this.#lists.get(key);
    // Taken out and put back: the map's order is the order of use, and the first is the one to drop.
    if (list) this.#lists.delete(key);
    else list = newList(model, query, this.#state().models[tableOf(model)]);
    this.#lists.set(key, list);
    if (this.#lists.size > KEPT_LISTS)
      for (const oldest of this.#lists.keys()) {
        this.#lists.delete(oldest);
        break;
      }
    this.#mend(list);
    return list.shown;
  }

  #mend(list: LiveList): void {
    if (list.stale === "all") recompute(list, this.#state());
    else if (list.stale.size === 0 || !mend(list, list.stale, this.#state())) {
      list.stale = new Set();
      return;
    }
    list.stale = new Set();
    const shown = list.sorted.slice(0, list.limit);
    if (shown.length !== list.shown.length || shown.some((data, i) => data !== list.shown[i])) list.shown = shown;
  }
}

function newList(model: string, query: AnyQuery, schema: Model | undefined): LiveList {
  const { where = {}, orderBy = "id", order = "asc", limit = Number.POSITIVE_INFINITY, archived = "without" } = query;
  const tests = Object.entries(where).map(([field, wanted]) => {
    const test = testOf(wanted, schema?.fields[field]?.type === "datetime");
    return (data: JsonObject) => test(data[field] ?? null);
  });
  const comparable = comparableOf(schema?.fields[orderBy]?.type === "datetime");
  const sign = order === "desc" ? -1 : 1;
  return {
    table: tableOf(model),
    limit,
    matches: ({ data, archivedAt }) =>
      (archived === "with" || (archivedAt === null) === (archived === "without")) && tests.every((test) => test(data)),
    compare: (a, b) => {
      const [left, right] = [comparable(a[orderBy]), comparable(b[orderBy])];
      // What has no value comes last, whichever way round.
      if (left === undefined || right === undefined) return left === right ? byId(a, b) : left === undefined ? 1 : -1;
      return left === right ? byId(a, b) : left < right ? -sign : sign;
    },
    byId: new Map(),
    sorted: [],
    shown: [],
    stale: "all",
  };
}

const byId = (a: JsonObject, b: JsonObject) => {
  const [left, right] = [a.id as string, b.id as string];
  return left === right ? 0 : left < right ? -1 : 1;
};

function recompute(list: LiveList, state: ClientState): void {
  list.byId.clear();
  const overlay = state.overlay[list.table];
  const take = (id: string, row: Row | null) => {
    if (row && list.matches(row)) list.byId.set(id, row.data);
  };
  for (const [id, row] of state.rows.tables[list.table]?.entries() ?? []) if (!overlay?.has(id)) take(id, row);
  for (const [id, row] of overlay?.entries() ?? []) take(id, row);
  list.sorted = [...list.byId.values()].sort(list.compare);
}

/** Moves the touched records only. False: nothing that the list shows has changed. */
function mend(list: LiveList, stale: ReadonlySet<string>, state: ClientState): boolean {
  let { sorted } = list;
  for (const id of stale) {
    const row = shownRow(state, { model: list.table, id });
    const before = list.byId.get(id);
    const now = row && list.matches(row) ? row.data : undefined;
    if (before === now) continue;
    if (sorted === list.sorted) sorted = sorted.slice();
    if (before) sorted.splice(placeOf(before, sorted, list.compare), 1);
    if (now) sorted.splice(placeOf(now, sorted, list.compare), 0, now);
    if (now) list.byId.set(id, now);
    else list.byId.delete(id);
  }
  const moved = sorted !== list.sorted;
  list.sorted = sorted;
  return moved;
}

/** The first place whose record does not come before this one; by id no two are equal. */
function placeOf(data: JsonObject, sorted: readonly JsonObject[], compare: LiveList["compare"]): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = sorted[middle];
    if (other && compare(other, data) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

type Comparable = string | number | undefined;

/** Date-times are compared as instants: the same one may be written with several offsets. */
const comparableOf =
  (isDatetime: boolean) =>
  (value: unknown): Comparable => {
    if (value === null || value === undefined) return undefined;
    if (typeof value === "boolean") return Number(value);
    if (typeof value === "number") return value;
    if (typeof value === "string") return isDatetime ? Date.parse(value) : value;
    return JSON.stringify(value);
  };

const RANGES = ["in", "gt", "gte", "lt", "lte"] as const;

/** A value to be equal to, or an object of ranges. */
function testOf(wanted: unknown, isDatetime: boolean): (value: Json) => boolean {
  const comparable = comparableOf(isDatetime);
  if (!isRanges(wanted)) return (value) => jsonEqual(value, wanted as Json);
  return (value) => {
    const own = comparable(value);
    return Object.entries(wanted).every(([range, bound]) => {
      if (bound === undefined) return true;
      if (range === "in") return (bound as readonly Json[]).some((one) => jsonEqual(one, value));
      const limit = comparable(bound);
      if (own === undefined || limit === undefined || typeof own !== typeof limit) return false;
      if (range === "gt") return own > limit;
      if (range === "gte") return own >= limit;
      return range === "lt" ? own < limit : own <= limit;
    });
  };
}

function isRanges(wanted: unknown): wanted is Readonly<Partial<Record<(typeof RANGES)[number], unknown>>> {
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted)) return false;
  const keys = Object.keys(wanted);
  return keys.length > 0 && keys.every((key) => RANGES.some((range) => range === key));
}
