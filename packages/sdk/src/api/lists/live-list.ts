import type { JsonObject } from "../../protocol/json.ts";
import { same } from "../same.ts";
import type { ListQuery, StateOfRows } from "./list-query.ts";
import { StaleIds } from "./stale-ids.ts";

/** Records kept beyond the shown ones, so that a record can replace one that leaves the list. */
const SPARE = 1_000;
/** Up to this many changed records are moved one by one; more are merged by sorting. */
const MANY = 64;

/**
 * One list of the app, updated incrementally:
 *
 *    all that match, in order:   ├── shown ──┼──── spare ────┤ ─ ─ ─ behind: not kept ─ ─ ─
 *                                └────────── kept ───────────┘
 *
 * Records that match and are not kept sort after the last kept one. So a change behind it costs one comparison, and a
 * change before it a move within the kept ones. All rows are scanned again only when the spare ones are used up. A list
 * without a limit keeps all records.
 */
export class LiveList {
  readonly query: ListQuery;
  readonly #capacity: number;
  readonly #many: number;
  readonly #byId = new Map<string, JsonObject>();
  #kept: JsonObject[] = [];
  /** No matching record lies behind the kept ones. */
  #isWhole = true;
  #shown: readonly JsonObject[] = [];
  readonly #stale = new StaleIds();

  constructor(query: ListQuery, spare = SPARE, many = MANY) {
    this.query = query;
    this.#capacity = query.limit + Math.max(1, spare);
    this.#many = many;
  }

  /** The number of kept records. */
  get size(): number {
    return this.#kept.length;
  }

  /** Notes that this record changed; without an id, any record may have changed. */
  note(id?: string): void {
    this.#stale.note(id, this.#kept.length);
  }

  /** Returns the same array until something in it changes. */
  read(state: StateOfRows): readonly JsonObject[] {
    const stale = this.#stale.take();
    if (stale && !this.#mend(stale, state)) return this.#shown;
    if (!stale) this.#fill(state);
    this.#shown = same(this.#shown, this.#kept.slice(0, this.query.limit));
    return this.#shown;
  }

  /** Scans all rows. */
  #fill(state: StateOfRows): void {
    const { sorted } = this.query;
    let found: JsonObject[] = [];
    this.#isWhole = true;
    let isBehind = (_: JsonObject) => false;
    this.query.all(state, (data) => {
      // Sort and cut at intervals, which bounds memory. Later records must then beat the last kept one.
      if (isBehind(data)) return;
      found.push(data);
      if (found.length < 2 * this.#capacity) return;
      found = sorted(found).slice(0, this.#capacity);
      this.#isWhole = false;
      isBehind = this.#behind(found.at(-1));
    });
    this.#kept = sorted(found);
    this.#byId.clear();
    for (const data of this.#kept) this.#byId.set(data.id as string, data);
    this.#trim();
    for (const data of this.#kept) this.query.give(data);
  }

  /** Moves only the changed records. Returns false if no kept record has changed. */
  #mend(stale: ReadonlySet<string>, state: StateOfRows): boolean {
    const last = this.#kept.at(-1);
    const moves: Move[] = [];
    for (const id of stale) {
      const before = this.#byId.get(id);
      const matched = this.query.find(state, id);
      const now = matched && this.#behind(last)(matched) ? undefined : matched;
      if (before === now) continue;
      moves.push({ before, now });
      if (now) this.#byId.set(id, this.query.give(now));
      else this.#byId.delete(id);
    }
    if (moves.length === 0) return false;
    if (moves.length > this.#many) this.#merge(moves);
    else for (const move of moves) this.#move(move);
    this.#trim();
    if (!this.#isWhole && this.#kept.length < this.query.limit) this.#fill(state);
    return true;
  }

  /** Moves only the records between the two indices. `splice` would reallocate a long list twice. */
  #move({ before, now }: Move): void {
    const kept = this.#kept;
    // A new record starts behind the last one, and a removed record ends there.
    const from = before ? this.query.placeOf(before, kept) : kept.length;
    let to = now ? this.query.placeOf(now, kept) : kept.length;
    // Removing the record from its old index shifts all later ones forward.
    if (before && to > from) to -= 1;
    if (from > to) for (let at = from; at > to; at--) kept[at] = kept[at - 1] as JsonObject;
    else for (let at = from; at < to; at++) kept[at] = kept[at + 1] as JsonObject;
    if (now) kept[to] = now;
    else kept.pop();
  }

  /** Sorting a nearly sorted list takes about linear time. */
  #merge(moves: readonly Move[]): void {
    const gone = new Set(moves.map(({ before }) => before));
    const stay = this.#kept.filter((data) => !gone.has(data));
    for (const { now } of moves) if (now) stay.push(now);
    this.#kept = this.query.sorted(stay);
  }

  /** Whether a record lies behind the last kept one. Without that one there is no capacity: every record does. */
  #behind(last: JsonObject | undefined): (data: JsonObject) => boolean {
    if (this.#isWhole) return () => false;
    const compared = last && this.query.comparedWith(last);
    return (data) => !compared || compared(data) > 0;
  }

  #trim(): void {
    while (this.#kept.length > this.#capacity) {
      this.#byId.delete(this.#kept.pop()?.id as string);
      this.#isWhole = false;
    }
  }
}

/** A record as it is in the list, and as it should be. */
interface Move {
  readonly before: JsonObject | undefined;
  readonly now: JsonObject | undefined;
}
