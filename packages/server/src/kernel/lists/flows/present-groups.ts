import { type RecordName, readGroups, readHostedGroups } from "../../commits/db/records.ts";
import { recordKey } from "../../commits/rules/commit-request.ts";
import type { Transaction } from "../../connection/transaction.ts";
import type { RecordPlaces } from "./record-places.ts";

/** Where records are that Holdfast does not keep itself, and the connections that read them. */
export interface PlacedRecords {
  readonly tables: Transaction;
  readonly places: RecordPlaces;
}

/** By `recordKey`: the groups of those of a tenant's records that there are. */
export async function presentGroups(
  db: Transaction,
  elsewhere: PlacedRecords,
  tenant: number,
  names: readonly Omit<RecordName, "tenant">[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (names.length === 0) return new Map();
  const hosted = await readHostedGroups(db, tenant, names);
  const ofHosted = hosted.map(({ model, id, groups }) => [recordKey(model, id), groups] as const);
  return new Map([...ofHosted, ...(await groupsElsewhere(db, elsewhere, tenant, names))]);
}

/** Of those that are not in Holdfast's own tables. */
export async function groupsElsewhere(
  db: Transaction,
  { tables, places }: PlacedRecords,
  tenant: number,
  names: readonly Omit<RecordName, "tenant">[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>();
  for (const [model, relation] of await places.of(db, tenant)) {
    const ids = names.flatMap((name) => (name.model === model ? name.id : []));
    if (ids.length === 0) continue;
    for (const [id, groups] of await readGroups(tables, relation, ids)) found.set(recordKey(model, id), groups);
  }
  return found;
}
