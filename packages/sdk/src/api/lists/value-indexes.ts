import type { ClientState } from "../../core/state.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";
import { type Comparable, comparable, isScalar } from "../../protocol/lists/compare-values.ts";
import { ownValue } from "../../protocol/own-value.ts";
import type { Field } from "../../protocol/schema/model-schema.ts";
import type { Conditions } from "./conditions.ts";
import type { ListQuery, StateOfRows } from "./list-query.ts";
import { valueIn } from "./value-in.ts";

/** A list of a field's values is looked up in an index from the second one on: to build it costs as much as one list. */
const WORTH_IT = 2;

/**
 * Which records have which value of a field, so that a list need not look at all records. Lists test what they get from
 * here: a record too much costs time, and none may be missing.
 */
export class ValueIndexes {
  readonly #models: ClientState["models"];
  /** All records of a model, as they are shown. */
  readonly #everything: (table: string) => ListQuery;
  /** By table, then by field. */
  readonly #indexes = new Map<string, Map<string, ValueIndex>>();

  constructor(models: ClientState["models"], everything: (table: string) => ListQuery) {
    this.#models = models;
    this.#everything = everything;
  }

  /** The same as one list. */
  ids(state: StateOfRows, table: string, conditions: Conditions): Iterable<string> | undefined {
    return this.candidates(state, table, conditions)?.flatMap((ids) => [...ids]);
  }

  /** The ids of all records that can meet the conditions, and of others. Undefined: it is not known. */
  candidates(state: StateOfRows, table: string, conditions: Conditions): readonly ReadonlySet<string>[] | undefined {
    let best: readonly ReadonlySet<string>[] | undefined;
    for (const [name, wanted] of Object.entries(conditions)) {
      const field = ownValue(this.#models[table]?.fields ?? {}, name);
      const values = valuesOf(wanted);
      if (!values || !field || !isScalar(field)) continue;
      const found = this.#indexOf(table, name, field).of(state, values);
      if (found && (!best || sizeOf(found) < sizeOf(best))) best = found;
    }
    return best;
  }

  /** Notes that this record changed; without an id, any record may have changed. */
  note(table?: string, id?: string): void {
    const noted = table === undefined ? this.#indexes.values() : [this.#indexes.get(table) ?? new Map()];
    for (const indexes of noted) for (const index of indexes.values()) index.note(id);
  }

  /** Takes in what was noted, so that no value stays that no record has any more. */
  refresh(state: StateOfRows): void {
    for (const indexes of this.#indexes.values()) for (const index of indexes.values()) index.refresh(state);
  }

  #indexOf(table: string, name: string, field: Field): ValueIndex {
    const indexes = this.#indexes.get(table) ?? new Map<string, ValueIndex>();
    this.#indexes.set(table, indexes);
    const index = indexes.get(name) ?? new ValueIndex(this.#everything(table), name, field.type);
    indexes.set(name, index);
    return index;
  }
}

/** To look up more than this share of all records takes longer than to look at all. */
const MOST_FOUND = 0.5;
/** More changes than this are not worth keeping: building anew is cheaper then. */
const MOST_STALE = 5_000;

type Key = Comparable | undefined;

class ValueIndex {
  readonly #query: ListQuery;
  readonly #field: string;
  readonly #type: Field["type"];
  readonly #ids = new Map<Key, Set<string>>();
  readonly #keys = new Map<string, Key>();
  /** Undefined: it is not built. */
  #stale: Set<string> | undefined;
  #asked = 0;

  constructor(query: ListQuery, field: string, type: Field["type"]) {
    this.#query = query;
    this.#field = field;
    this.#type = type;
  }

  of(state: StateOfRows, values: readonly unknown[]): readonly ReadonlySet<string>[] | undefined {
    this.#asked += 1;
    if (this.#asked < WORTH_IT) return undefined;
    if (this.#stale) this.refresh(state);
    else this.#build(state);
    const keys = new Set(values.map((value) => this.#keyOf(value)));
    const found = [...keys].flatMap((key) => this.#ids.get(key) ?? []);
    return sizeOf(found) > MOST_FOUND * this.#keys.size ? undefined : found;
  }

  note(id: string | undefined): void {
    if (id !== undefined) this.#stale?.add(id);
    if (id !== undefined && (this.#stale?.size ?? 0) <= MOST_STALE) return;
    this.#stale = undefined;
    this.#ids.clear();
    this.#keys.clear();
  }

  refresh(state: StateOfRows): void {
    for (const id of this.#stale ?? []) this.#put(id, this.#query.find(state, id));
    this.#stale?.clear();
  }

  #build(state: StateOfRows): void {
    this.#query.all(state, (data) => this.#put(data.id as string, data));
    this.#stale = new Set();
  }

  #put(id: string, data: JsonObject | undefined): void {
    if (this.#keys.has(id)) {
      const before = this.#keys.get(id);
      const ids = this.#ids.get(before);
      ids?.delete(id);
      if (ids?.size === 0) this.#ids.delete(before);
      this.#keys.delete(id);
    }
    if (!data) return;
    const key = this.#keyOf(valueIn(data, this.#field) ?? null);
    this.#keys.set(id, key);
    const ids = this.#ids.get(key) ?? new Set();
    this.#ids.set(key, ids.add(id));
  }

  /** As conditions compare: what is no value of the field's type is none. */
  #keyOf(value: unknown): Key {
    return comparable(this.#type, value instanceof Date ? value.toISOString() : (value as Json));
  }
}

/** The only values that meet a condition. Undefined: they are not listed. */
export function valuesOf(wanted: unknown): readonly unknown[] | undefined {
  if (typeof wanted !== "object" || wanted === null || wanted instanceof Date) return [wanted];
  const { in: listed } = wanted as { readonly in?: unknown };
  return Array.isArray(listed) ? listed : undefined;
}

const sizeOf = (sets: readonly ReadonlySet<string>[]): number => sets.reduce((sum, { size }) => sum + size, 0);
