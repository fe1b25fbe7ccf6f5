import { refOf, tableOf } from "../../core/log/tables.ts";
import type { ClientState } from "../../core/state.ts";
import type { Clock } from "../../engine/ports.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { type AnyQuery, listQuery } from "./list-query.ts";
import { LiveList } from "./live-list.ts";
import type { ShowRow } from "./shown-rows.ts";

/** The maximum size of all lists without a subscriber, in records. */
const UNHELD_RECORDS = 200_000;
/** The fixed size of a list, in records. */
const LIST_WEIGHT = 100;
/** A list without a subscriber is dropped if it was not read for this long. */
const UNREAD_MS = 60_000;
/** How long a subscriber may batch changes before it reads its lists again. */
const GATHER_MS = 5_000;

interface KeptList {
  readonly key: string;
  readonly list: LiveList;
  readAt: number;
  /** The number of changes when it was last read. */
  readAfter: number;
}

/**
 * Caches lists and updates them incrementally: a change costs as much as the records it touched.
 *
 * A subscriber is called after every change and then reads the lists that it shows. So a list that was read after the
 * last change, or the one before it, is in use and stays, however many there are. Other lists are dropped, least
 * recently read first, if they contain too many records or were not read for a minute.
 */
export class Lists {
  readonly #state: () => ClientState;
  readonly #clock: Clock;
  readonly #show: ShowRow | undefined;
  readonly #kept = new Map<string, KeptList>();
  readonly #byTable = new Map<string, Set<LiveList>>();
  #changes = 0;
  #subscribers = 0;
  /** The records added since the last sweep, and the time of that sweep. */
  #added = 0;
  #sweptAt = 0;

  constructor(state: () => ClientState, clock: Clock, show?: ShowRow) {
    this.#show = show;
    this.#state = state;
    this.#clock = clock;
  }

  /** Counts a subscriber. Returns a function that ends the subscription. */
  subscribed(): () => void {
    this.#subscribers += 1;
    let isGone = false;
    return () => {
      if (!isGone) this.#subscribers -= 1;
      isGone = true;
    };
  }

  /** Called once after every step, before the subscribers. */
  note({ touched }: ClientState): void {
    this.#changes += 1;
    if (this.#clock.monotonic() - this.#sweptAt > UNREAD_MS) this.#sweep();
    if (touched === "everything") {
      for (const { list } of this.#kept.values()) list.note();
      return;
    }
    for (const key of touched) {
      const { model, id } = refOf(key);
      for (const list of this.#byTable.get(model) ?? []) list.note(id);
    }
  }

  list(model: string, query: AnyQuery): readonly JsonObject[] {
    const key = `${tableOf(model)} ${JSON.stringify(query, apart)}`;
    const known = this.#kept.get(key);
    const kept = known ?? this.#keep(key, this.#live(model, query));
    kept.readAt = this.#clock.monotonic();
    kept.readAfter = this.#changes;
    const records = kept.list.read(this.#state());
    if (!known) this.#added += weightOf(kept);
    if (this.#added > UNHELD_RECORDS / 4) this.#sweep();
    return records;
  }

  #live(model: string, query: AnyQuery): LiveList {
    return new LiveList(listQuery(model, query, this.#state().models[tableOf(model)], this.#show));
  }

  #keep(key: string, list: LiveList): KeptList {
    const { table } = list.query;
    const kept: KeptList = { key, list, readAt: 0, readAfter: 0 };
    this.#kept.set(key, kept);
    const lists = this.#byTable.get(table) ?? new Set();
    this.#byTable.set(table, lists.add(list));
    return kept;
  }

  #sweep(): void {
    this.#added = 0;
    this.#sweptAt = this.#clock.monotonic();
    const unheld = [...this.#kept.values()].filter((kept) => !this.#isHeld(kept)).sort((a, b) => b.readAt - a.readAt);
    let weight = 0;
    for (const kept of unheld) {
      weight += weightOf(kept);
      if (weight <= UNHELD_RECORDS && this.#sweptAt - kept.readAt <= UNREAD_MS) continue;
      this.#kept.delete(kept.key);
      this.#byTable.get(kept.list.query.table)?.delete(kept.list);
    }
  }

  #isHeld({ readAfter, readAt }: KeptList): boolean {
    if (this.#subscribers === 0) return false;
    return readAfter >= this.#changes - 1 || this.#sweptAt - readAt < GATHER_MS;
  }
}

const weightOf = ({ list }: KeptList) => LIST_WEIGHT + list.size;

/**
 * Marks values that JSON would drop or turn into null. Record strings cannot contain NUL, so the marker is unambiguous.
 */
const apart = (_key: string, value: unknown): unknown =>
  value === undefined || (typeof value === "number" && !Number.isFinite(value)) ? `\0${value}` : value;
