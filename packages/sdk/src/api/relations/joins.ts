import type { AnyInclude } from "../lists/list-query.ts";
import type { LiveList } from "../lists/live-list.ts";
import { GroupIndex } from "./group-index.ts";
import { type IncludeTree, includeTree, type ListCode } from "./include-tree.ts";
import { JoinedList, type SharedPart } from "./joined-list.ts";
import { JoinedRows } from "./joined-rows.ts";

/** The lists that include other records. What several of them need exists once. */
export class Joins {
  readonly #code: ListCode;
  /** By table, by key. */
  readonly #shared = new Map<string, Map<string, SharedPart>>();

  constructor(code: ListCode) {
    this.#code = code;
  }

  /** Notes that this record changed. */
  note(table: string, id: string): void {
    for (const { part } of this.#shared.get(table)?.values() ?? []) part.note(id);
  }

  /** Notes that any record may have changed. */
  noteAll(): void {
    for (const parts of this.#shared.values()) for (const { part } of parts.values()) part.note();
  }

  /** A list whose records of a model include others. Throws for what cannot be included. */
  open(model: string, plain: LiveList, include: AnyInclude): JoinedList {
    const tree = includeTree(this.#code, model, include);
    const parts = new Set<SharedPart>();
    const releases: (() => void)[] = [];
    const use = <P extends SharedPart["part"]>(table: string, key: string, make: () => P): P => {
      const shared = this.#use(table, key, make);
      releases.push(() => this.#release(table, key, shared));
      parts.add(shared);
      return shared.part as P;
    };
    const rowsOf = ({ key, query, branches }: IncludeTree): JoinedRows => {
      const joined = branches.map((branch) => {
        const { field, whole, tree: inner } = branch;
        const groups = whole && use(whole.table, `by ${field}: ${whole.key}`, () => new GroupIndex(whole, field));
        return { ...branch, rows: rowsOf(inner), groups };
      });
      return use(query.table, key, () => new JoinedRows(query, joined));
    };
    return new JoinedList(plain, rowsOf(tree), parts, () => {
      for (const release of releases) release();
    });
  }

  #use(table: string, key: string, make: () => SharedPart["part"]): SharedPart {
    const parts = this.#shared.get(table) ?? new Map<string, SharedPart>();
    this.#shared.set(table, parts);
    const shared = parts.get(key) ?? { part: make(), uses: 0 };
    parts.set(key, shared);
    shared.uses += 1;
    return shared;
  }

  #release(table: string, key: string, shared: SharedPart): void {
    shared.uses -= 1;
    if (shared.uses === 0) this.#shared.get(table)?.delete(key);
  }
}
