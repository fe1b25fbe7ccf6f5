import type { Json, JsonObject } from "../../protocol/json.ts";
import { typedValue } from "../../protocol/lists/compare-values.ts";
import type { FieldType } from "../../protocol/schema/model-schema.ts";
import type { ListQuery, StateOfRows } from "./list-query.ts";
import { StaleIds } from "./stale-ids.ts";
import { valueIn } from "./value-in.ts";

/** By value, or item of an array: how many records have it. */
export type Counts = ReadonlyMap<Json, number>;

/** How many records of a query have which value of a field, updated incrementally. `true`: how many there are. */
export class LiveCounts {
  readonly query: ListQuery;
  readonly #field: string | true;
  readonly #type: FieldType | undefined;
  readonly #valueOf = new Map<string, Json>();
  #counts: Counts = new Map();
  readonly #stale = new StaleIds();

  constructor(query: ListQuery, field: string | true, type?: FieldType) {
    this.query = query;
    this.#field = field;
    this.#type = type;
  }

  /** The number of counted records. */
  get size(): number {
    return this.#valueOf.size;
  }

  /** Notes that this record changed; without an id, any record may have changed. */
  note(id?: string): void {
    this.#stale.note(id, this.#valueOf.size);
  }

  /** Returns the same map until a count in it changes. */
  read(state: StateOfRows): Counts {
    const stale = this.#stale.take();
    const found = new Map<string, JsonObject | undefined>();
    for (const id of stale ?? this.#valueOf.keys()) found.set(id, stale && this.query.find(state, id));
    if (!stale) this.query.all(state, (data) => found.set(data.id as string, data));
    this.#recount(found);
    return this.#counts;
  }

  #recount(found: ReadonlyMap<string, JsonObject | undefined>): void {
    const moved = new Map<Json, number>();
    const move = (value: Json, by: 1 | -1) => {
      for (const one of new Set([value].flat())) moved.set(one, (moved.get(one) ?? 0) + by);
    };
    for (const [id, data] of found) {
      const before = this.#valueOf.get(id);
      if (before !== undefined) move(before, -1);
      if (data) {
        const now = this.#value(data);
        this.#valueOf.set(id, now);
        move(now, 1);
      } else this.#valueOf.delete(id);
    }
    if ([...moved.values()].every((by) => by === 0)) return;
    const counts = new Map(this.#counts);
    for (const [value, by] of moved) {
      const count = (counts.get(value) ?? 0) + by;
      if (count) counts.set(value, count);
      else counts.delete(value);
    }
    this.#counts = counts;
  }

  #value(data: JsonObject): Json {
    const field = this.#field;
    if (field === true) return true;
    return typedValue(this.#type, valueIn(field[0] === "$" ? this.query.give(data) : data, field));
  }
}
