import type { Json, JsonObject } from "../../protocol/json.ts";
import type { ListQuery, StateOfRows } from "../lists/list-query.ts";
import type { Dependent } from "./dependent.ts";
import type { GroupIndex } from "./group-index.ts";
import type { IncludeBranch } from "./include-tree.ts";
import { idsIn } from "./reference-ids.ts";

/** One relation that the records of a place include. */
export interface Branch extends Omit<IncludeBranch, "tree" | "whole"> {
  readonly rows: JoinedRows;
  /** For an inverse relation: the included records by the id of the record that includes them. */
  readonly groups: GroupIndex | undefined;
}

/** A record with what it includes, until something in it changes. */
interface Joined extends Dependent {
  readonly id: string;
  isFresh: boolean;
  /** The record alone. */
  plain: JsonObject | undefined;
  /** The record with what it includes. Undefined: there is none. */
  data: JsonObject | undefined;
  /** By branch: the ids of the included records that were looked at. */
  readonly held: (readonly string[])[];
  readonly dependents: Set<Dependent>;
}

/**
 * The records at one place in the tree of a query, each joined with what it includes:
 *
 *    task t1 ──project──► p1 ◄──project── task t2
 *       └────labels─────► l1, l2
 *
 * A joined record knows what depends on it. So a change marks those that contain it, up to the query's own records,
 * and only they are joined again. The others keep their identity.
 */
export class JoinedRows {
  readonly #query: ListQuery;
  readonly #branches: readonly Branch[];
  readonly #joined = new Map<string, Joined>();

  /** `query`: all records of the model, also archived ones. */
  constructor(query: ListQuery, branches: readonly Branch[]) {
    this.#query = query;
    this.#branches = branches;
  }

  /** The number of joined records. */
  get size(): number {
    return this.#joined.size;
  }

  /** Notes that this record changed; without an id, any record may have changed. */
  note(id?: string): void {
    if (id !== undefined) this.#joined.get(id)?.spoil(id);
    else for (const [each, joined] of this.#joined) joined.spoil(each);
  }

  /** Keeps a joined record for as long as something depends on it. */
  hold(id: string, dependent: Dependent): void {
    this.#at(id).dependents.add(dependent);
  }

  release(id: string, dependent: Dependent): void {
    const joined = this.#joined.get(id);
    if (!joined?.dependents.delete(dependent) || joined.dependents.size > 0) return;
    this.#joined.delete(id);
    for (const [at, branch] of this.#branches.entries()) {
      branch.groups?.release(id, joined);
      for (const other of joined.held[at] ?? []) branch.rows.release(other, joined);
    }
  }

  /** A record that is held, with what it includes: the same object until something in it changes. */
  read(
    id: string,
    state: StateOfRows,
  ): { readonly plain: JsonObject | undefined; readonly data: JsonObject | undefined } {
    const joined = this.#at(id);
    if (!joined.isFresh) this.#join(joined, state);
    return joined;
  }

  #at(id: string): Joined {
    let joined = this.#joined.get(id);
    if (!joined) {
      joined = newJoined(id);
      this.#joined.set(id, joined);
    }
    return joined;
  }

  #join(joined: Joined, state: StateOfRows): void {
    joined.isFresh = true;
    const { plain: plainBefore, data: before } = joined;
    const heldBefore = [...joined.held];
    const plain = this.#query.find(state, joined.id);
    joined.plain = plain;
    const parts = this.#branches.map((branch, at) => this.#include(branch, at, joined, state));
    this.#letGo(heldBefore, joined);
    if (!plain || parts.length === 0) joined.data = plain && this.#query.give(plain);
    else if (!before || plain !== plainBefore || this.#branches.some(({ name }, at) => before[name] !== parts[at]))
      joined.data = this.#query.give({ ...plain, ...this.#named(parts) }, plain);
  }

  #named(parts: readonly Json[]): JsonObject {
    return Object.fromEntries(this.#branches.map(({ name }, at) => [name, parts[at] ?? null]));
  }

  /** What a branch adds to the record; the same value if nothing in it changed. */
  #include(
    { name, kind, field, query, rows, groups, isOrdered }: Branch,
    at: number,
    joined: Joined,
    state: StateOfRows,
  ): Json {
    groups?.hold(joined.id, joined);
    const ids = groups
      ? groups
          .of(joined.id)
          .slice(0, query.limit)
          .map((data) => data.id as string)
      : idsIn(joined.plain?.[field]);
    for (const id of ids) rows.hold(id, joined);
    joined.held[at] = ids;
    const found: JsonObject[] = [];
    for (const id of ids) {
      // Also one that is not there: what was never read does not say that it came.
      rows.read(id, state);
      const matched = query.find(state, id);
      if (matched) found.push(matched);
    }
    const inOrder = isOrdered && !groups ? query.sorted(found) : found;
    const records = inOrder.slice(0, query.limit).map(({ id }) => rows.read(id as string, state).data ?? null);
    if (kind === "one") return records[0] ?? null;
    const before = joined.data?.[name];
    return Array.isArray(before) && isSameList(before, records) ? before : records;
  }

  /** Releases what was held before. Several branches may hold the same record, which stays while one of them does. */
  #letGo(before: Joined["held"], joined: Joined): void {
    for (const [at, { rows }] of this.#branches.entries()) {
      const now = new Set(this.#branches.flatMap((other, i) => (other.rows === rows ? joined.held[i] : []) ?? []));
      for (const id of before[at] ?? []) if (!now.has(id)) rows.release(id, joined);
    }
  }
}

function newJoined(id: string): Joined {
  const joined: Joined = {
    id,
    isFresh: false,
    plain: undefined,
    data: undefined,
    held: [],
    dependents: new Set(),
    spoil() {
      if (!joined.isFresh) return;
      joined.isFresh = false;
      for (const dependent of joined.dependents) dependent.spoil(id);
    },
  };
  return joined;
}

const isSameList = (before: readonly unknown[], now: readonly unknown[]): boolean =>
  before.length === now.length && now.every((data, i) => data === before[i]);
