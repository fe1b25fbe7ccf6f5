import type { JsonObject } from "../../protocol/json.ts";
import type { ListQuery, StateOfRows } from "../lists/list-query.ts";
import type { Dependent } from "./dependent.ts";
import { idsIn } from "./reference-ids.ts";

interface Group {
  /** In the order of the query. */
  readonly records: JsonObject[];
  readonly dependents: Set<Dependent>;
}

/** The records of a query by the ids that one of their fields has, updated incrementally. */
export class GroupIndex {
  readonly #query: ListQuery;
  readonly #field: string;
  readonly #groups = new Map<string, Group>();
  readonly #dataOf = new Map<string, JsonObject>();
  #stale: Set<string> | "all" = "all";

  constructor(query: ListQuery, field: string) {
    this.#query = query;
    this.#field = field;
  }

  /** The number of indexed records. */
  get size(): number {
    return this.#dataOf.size;
  }

  /** Notes that this record changed; without an id, any record may have changed. */
  note(id?: string): void {
    if (id === undefined) this.#stale = "all";
    else if (this.#stale !== "all") this.#stale.add(id);
  }

  /** Takes in what changed, and marks what depends on a changed group. */
  refresh(state: StateOfRows): void {
    const stale = this.#stale;
    this.#stale = new Set();
    if (stale === "all") this.#fill(state);
    else for (const id of stale) this.#mend(id, state);
  }

  /** All records that reference this id, in order. */
  of(id: string): readonly JsonObject[] {
    return this.#groups.get(id)?.records ?? [];
  }

  hold(id: string, dependent: Dependent): void {
    this.#group(id).dependents.add(dependent);
  }

  release(id: string, dependent: Dependent): void {
    const group = this.#groups.get(id);
    group?.dependents.delete(dependent);
    this.#dropIfUnused(id, group);
  }

  /** All that depends on groups has been marked with them. */
  #fill(state: StateOfRows): void {
    this.#dataOf.clear();
    for (const { records } of this.#groups.values()) records.length = 0;
    const all: JsonObject[] = [];
    this.#query.all(state, (data) => all.push(data));
    for (const data of this.#query.sorted(all)) {
      this.#dataOf.set(data.id as string, data);
      for (const id of idsIn(data[this.#field])) this.#group(id).records.push(data);
    }
    for (const [id, group] of this.#groups) this.#dropIfUnused(id, group);
  }

  #mend(id: string, state: StateOfRows): void {
    const before = this.#dataOf.get(id);
    const now = this.#query.find(state, id);
    if (before === now) return;
    for (const group of idsIn(before?.[this.#field])) this.#remove(group, before as JsonObject);
    for (const group of idsIn(now?.[this.#field])) this.#insert(group, now as JsonObject);
    if (now) this.#dataOf.set(id, now);
    else this.#dataOf.delete(id);
  }

  #remove(id: string, data: JsonObject): void {
    const group = this.#group(id);
    const at = this.#query.placeOf(data, group.records);
    // What shows it holds it, and so has been marked already.
    if (group.records[at] === data) group.records.splice(at, 1);
    this.#dropIfUnused(id, group);
  }

  #insert(id: string, data: JsonObject): void {
    const { records, dependents } = this.#group(id);
    records.splice(this.#query.placeOf(data, records), 0, data);
    for (const dependent of dependents) dependent.spoil(id);
  }

  #group(id: string): Group {
    let group = this.#groups.get(id);
    if (!group) {
      group = { records: [], dependents: new Set() };
      this.#groups.set(id, group);
    }
    return group;
  }

  #dropIfUnused(id: string, group: Group | undefined): void {
    if (group && group.records.length + group.dependents.size === 0) this.#groups.delete(id);
  }
}
