import { ownValue } from "../../protocol/own-value.ts";
import { PersistentMap } from "./persistent-map.ts";

/** Values by model, then by record id. Model names are case-insensitive, so the keys are lower-case. */
export type Tables<V> = Readonly<Record<string, PersistentMap<V>>>;

export interface RecordRef {
  readonly model: string;
  readonly id: string;
}

export const tableOf = (model: string): string => model.toLowerCase();

/** Ids cannot contain `/`, so the key is unambiguous. */
export const recordKey = (record: RecordRef): string => `${tableOf(record.model)}/${record.id}`;

export function refOf(key: string): RecordRef {
  const slash = key.indexOf("/");
  return { model: key.slice(0, slash), id: key.slice(slash + 1) };
}

export const lookUp = <V>(tables: Tables<V>, { model, id }: RecordRef): V | undefined =>
  ownValue(tables, tableOf(model))?.get(id);

export interface RecordChange<V> {
  readonly record: RecordRef;
  /** Undefined removes the record. */
  readonly value: V | undefined;
}

/** Changes records in any tables. Each table is copied once, however many of its records change. */
export function changeTables<V>(tables: Tables<V>, changes: Iterable<RecordChange<V>>): Tables<V> {
  const byTable = new Map<string, RecordChange<V>[]>();
  for (const change of changes) {
    const table = tableOf(change.record.model);
    const list = byTable.get(table);
    if (list) list.push(change);
    else byTable.set(table, [change]);
  }
  if (byTable.size === 0) return tables;
  const next: Record<string, PersistentMap<V>> = { ...tables };
  for (const [table, list] of byTable)
    next[table] = (ownValue(next, table) ?? PersistentMap.empty<V>()).edit((draft) => {
      for (const { record, value } of list)
        if (value === undefined) draft.delete(record.id);
        else draft.set(record.id, value);
    });
  return next;
}
