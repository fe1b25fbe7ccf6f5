import type { JsonObject } from "../../protocol/json.ts";
import type { ListQuery, StateOfRows } from "../lists/list-query.ts";
import type { LiveList } from "../lists/live-list.ts";
import type { Dependent } from "./dependent.ts";
import { GroupIndex } from "./group-index.ts";
import type { JoinedRows } from "./joined-rows.ts";

/** A part that is kept while a list uses it. */
export interface SharedPart {
  readonly part: JoinedRows | GroupIndex;
  /** By how many lists, or places of one. */
  uses: number;
}

/** A list whose records are joined with what they include. */
export class JoinedList implements Dependent {
  readonly #list: LiveList;
  readonly #rows: JoinedRows;
  readonly #parts: ReadonlySet<SharedPart>;
  readonly #closed: () => void;
  readonly #stale = new Set<string>();
  #plain: readonly JsonObject[] = [];
  #joined: readonly JsonObject[] = [];

  /** `parts`: all that the tree of the query uses, `rows` too. `closed` ends that. */
  constructor(list: LiveList, rows: JoinedRows, parts: ReadonlySet<SharedPart>, closed: () => void) {
    this.#list = list;
    this.#rows = rows;
    this.#parts = parts;
    this.#closed = closed;
  }

  get query(): ListQuery {
    return this.#list.query;
  }

  /** The number of kept records. What several lists share counts for each in part. */
  get size(): number {
    let size = this.#list.size;
    for (const { part, uses } of this.#parts) size += part.size / uses;
    return size;
  }

  note(id?: string): void {
    this.#list.note(id);
  }

  /** Something in this joined record changed. */
  spoil(id: string): void {
    this.#stale.add(id);
  }

  /** Returns the same array until something in it changes. */
  read(state: StateOfRows): readonly JsonObject[] {
    for (const { part } of this.#parts) if (part instanceof GroupIndex) part.refresh(state);
    const plain = this.#list.read(state);
    if (plain !== this.#plain) this.#join(plain, state);
    if (this.#stale.size > 0) this.#mend(state);
    this.#stale.clear();
    return this.#joined;
  }

  /** Ends its use of the joined records. */
  close(): void {
    for (const { id } of this.#plain) this.#rows.release(id as string, this);
    this.#plain = [];
    this.#closed();
  }

  /** Takes what is the same at both ends as it is, and looks only at the records between. */
  #join(plain: readonly JsonObject[], state: StateOfRows): void {
    const before = this.#plain;
    const shorter = Math.min(plain.length, before.length);
    let start = 0;
    while (start < shorter && plain[start] === before[start]) start++;
    let end = 0;
    while (end < shorter - start && plain.at(-1 - end) === before.at(-1 - end)) end++;

    const now = plain.slice(start, plain.length - end);
    for (const { id } of now) this.#rows.hold(id as string, this);
    const stay = new Set(now.map(({ id }) => id));
    for (const { id } of before.slice(start, before.length - end)) {
      this.#stale.delete(id as string);
      if (!stay.has(id)) this.#rows.release(id as string, this);
    }
    const joined = now.map((data) => this.#rows.read(data.id as string, state).data ?? data);
    this.#joined = [...this.#joined.slice(0, start), ...joined, ...this.#joined.slice(before.length - end)];
    this.#plain = plain;
  }

  /** Reads the spoiled records again. Keeps the array if they are all the same. */
  #mend(state: StateOfRows): void {
    const joined = [...this.#joined];
    let isSame = true;
    for (const id of this.#stale) {
      const { plain, data } = this.#rows.read(id, state);
      const at = plain ? this.query.placeOf(plain, this.#plain) : -1;
      if (!data || this.#plain[at]?.id !== id || joined[at] === data) continue;
      joined[at] = data;
      isSame = false;
    }
    if (!isSame) this.#joined = joined;
  }
}
