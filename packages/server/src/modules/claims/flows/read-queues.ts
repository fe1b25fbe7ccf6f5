import type { Claim } from "@holdfast/sdk/protocol";
import { type RecordName, readGroups } from "../../../kernel/commits/db/records.ts";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { RecordPlaces } from "../../../kernel/lists/flows/record-places.ts";
import { type ReadQueue, readQueues as readStored } from "../db/read-claims.ts";
import { presentQueue } from "../rules/claim.ts";

/** Where records are that Holdfast does not keep itself, and the connections that read them. */
export interface PlacedRecords {
  readonly tables: Transaction;
  readonly places: RecordPlaces;
}

/** The queues of records. Which groups a record has that is elsewhere, is read there. */
export async function readQueues(
  db: Transaction,
  names: readonly RecordName[],
  { tables, places }: PlacedRecords,
): Promise<readonly ReadQueue[]> {
  const queues = await readStored(db, names);
  const attached = names.filter((_, i) => queues[i]?.isAttached);
  if (attached.length === 0) return queues;
  const found = new Map<string, readonly string[]>();
  for (const tenant of new Set(attached.map((name) => name.tenant)))
    for (const [model, relation] of await places.of(db, tenant)) {
      const ids = attached.flatMap((name) => (name.tenant === tenant && name.model === model ? name.id : []));
      if (ids.length === 0) continue;
      for (const [id, groups] of await readGroups(tables, relation, ids))
        found.set(keyOf({ tenant, model, id }), groups);
    }
  return queues.map((queue, i) =>
    queue.isAttached ? { ...queue, groups: found.get(keyOf(names[i] as RecordName)) } : queue,
  );
}

/** The claims that are held on a record. */
export async function claimsOn(
  db: Transaction,
  record: RecordName,
  modelName: string,
): Promise<{ readonly claims: Claim[] }> {
  const [queue] = await readStored(db, [record]);
  return { claims: queue ? presentQueue(queue.claims, modelName, queue.now).claims : [] };
}

const keyOf = ({ tenant, model, id }: RecordName): string => `${tenant} ${model} ${id}`;
