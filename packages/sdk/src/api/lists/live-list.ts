import { shownRow } from "../../core/conflicts/overlay.ts";
import type { ClientState } from "../../core/state.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { ListQuery } from "./list-query.ts";
import { asGiven } from "./shown-rows.ts";

/** Kept beyond what is shown, so that a record that leaves makes room for one that is at hand. */
const SPARE = 1_000;
/** Up to so many records are moved one by one; more are sorted in together. */
const MANY = 64;

type StateOfRows = Pick<ClientState, "rows" | "overlay">;

/**
 * One list that the app looks at, mended rather than computed anew.
 *
 *     all that match, in order:   ├── shown ──┼──── spare ────┤ ─ ─ ─ behind: not kept ─ ─ ─
 *                                 └────────── kept ───────────┘
 *
 * Whatever matches and is not kept comes after the last of those that are. So a change behind it costs one comparison,
 * one before it a move within what is kept; rows are gone through again only when the spare ones are used up. A list
 * without a limit keeps all.
 */
export class LiveList {
  readonly query: ListQuery;
  readonly #capacity: number;
  readonly #many: number;
  readonly #byId = new Map<string, JsonObject>();
  #kept: JsonObject[] = [];
  /** Nothing that matches lies behind. */
  #isWhole = true;
  #shown: readonly JsonObject[] = [];
  /** Records whose view may have changed since they were looked at. Undefined: all. */
  #stale: Set<string> | undefined;

  constructor(query: ListQuery, spare = SPARE, many = MANY) {
    this.query = query;
    this.#capacity = query.limit + Math.max(1, spare);
    this.#many = many;
  }

  /** How many records it keeps. */
  get size(): number {
    return this.#kept.length;
  }

  /** This record changed; without an id: any may have. */
  note(id?: string): void {
    if (id !== undefined) this.#stale?.add(id);
    // A list that nobody reads any more must not gather what changed for ever; nor is mending cheaper then.
    if (id === undefined || (this.#stale?.size ?? 0) > this.#kept.length + SPARE) this.#stale = undefined;
  }

  /** The same array as long as nothing in it changes. */
  read(state: StateOfRows): readonly JsonObject[] {
    const stale = this.#stale;
    if (stale?.size === 0) return this.#shown;
    this.#stale = new Set();
    if (stale && !this.#mend(stale, state)) return this.#shown;
    if (!stale) this.#fill(state);
    const shown = this.#kept.slice(0, this.query.limit);
    if (shown.length !== this.#shown.length || shown.some((data, i) => data !== this.#shown[i])) {
      for (const data of shown) asGiven(data);
      this.#shown = shown;
    }
    return this.#shown;
  }

  /** Goes through all rows. */
  #fill(state: StateOfRows): void {
    const { sorted } = this.query;
    let found: JsonObject[] = [];
    this.#isWhole = true;
    for (const data of matching(this.query, state)) {
      // Sorted now and then, so that few have to be held: the last of the best is what the others have to beat.
      if (this.#isBehind(data, found[this.#capacity - 1])) continue;
      found.push(data);
      if (found.length < 2 * this.#capacity) continue;
      found = sorted(found).slice(0, this.#capacity);
      this.#isWhole = false;
    }
    this.#kept = sorted(found);
    this.#byId.clear();
    for (const data of this.#kept) this.#byId.set(data.id as string, data);
    this.#trim();
  }

  /** Moves the touched records only. False: nothing that is kept has changed. */
  #mend(stale: ReadonlySet<string>, state: StateOfRows): boolean {
    const { table, matches, show } = this.query;
    const last = this.#kept.at(-1);
    const moves: Move[] = [];
    for (const id of stale) {
      const found = shownRow(state, { model: table, id });
      const row = found && show(found);
      const before = this.#byId.get(id);
      const matched = row && matches(row) ? row.data : undefined;
      const now = matched && this.#isBehind(matched, last) ? undefined : matched;
      if (before === now) continue;
      moves.push({ before, now });
      if (now) this.#byId.set(id, now);
      else this.#byId.delete(id);
    }
    if (moves.length === 0) return false;
    if (moves.length > this.#many) this.#merge(moves);
    else for (const move of moves) this.#move(move);
    this.#trim();
    if (!this.#isWhole && this.#kept.length < this.query.limit) this.#fill(state);
    return true;
  }

  /** Only what lies between the two places moves. `splice` would give a long list new memory, twice. */
  #move({ before, now }: Move): void {
    const kept = this.#kept;
    // One that comes begins behind the last, one that goes ends there.
    const from = before ? this.#placeOf(before) : kept.length;
    let to = now ? this.#placeOf(now) : kept.length;
    // Its old place is given up: what lies behind that is one further to the front.
    if (before && to > from) to -= 1;
    if (from > to) for (let at = from; at > to; at--) kept[at] = kept[at - 1] as JsonObject;
    else for (let at = from; at < to; at++) kept[at] = kept[at + 1] as JsonObject;
    if (now) kept[to] = now;
    else kept.pop();
  }

  /** Sorting what is nearly in order costs about one look at each. */
  #merge(moves: readonly Move[]): void {
    const gone = new Set(moves.map(({ before }) => before));
    const stay = this.#kept.filter((data) => !gone.has(data));
    for (const { now } of moves) if (now) stay.push(now);
    this.#kept = this.query.sorted(stay);
  }

  /** Without a last one there is no room at all: everything lies behind. */
  #isBehind(data: JsonObject, last: JsonObject | undefined): boolean {
    return !this.#isWhole && (!last || this.query.compare(data, last) > 0);
  }

  #trim(): void {
    while (this.#kept.length > this.#capacity) {
      this.#byId.delete(this.#kept.pop()?.id as string);
      this.#isWhole = false;
    }
  }

  /** The first place whose record does not come before this one. */
  #placeOf(data: JsonObject): number {
    let low = 0;
    let high = this.#kept.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#kept[middle];
      if (other && this.query.compare(other, data) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** A record as it lies in the list, and as it should. */
interface Move {
  readonly before: JsonObject | undefined;
  readonly now: JsonObject | undefined;
}

function* matching({ table, matches, show }: ListQuery, { rows, overlay }: StateOfRows): Generator<JsonObject> {
  const over = overlay[table];
  for (const [id, found] of rows.tables[table]?.entries() ?? []) {
    if (over?.has(id)) continue;
    const row = show(found);
    if (matches(row)) yield row.data;
  }
  for (const found of over?.values() ?? []) {
    const row = found && show(found);
    if (row && matches(row)) yield row.data;
  }
}
