import type { Claim } from "@holdfast/sdk/protocol";
import type { RecordName } from "../../../kernel/commits/db/records.ts";
import { recordKey } from "../../../kernel/commits/rules/commit-request.ts";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import { groupsElsewhere, type PlacedRecords } from "../../../kernel/lists/flows/present-groups.ts";
import { type ReadQueue, readQueues as readStored } from "../db/read-claims.ts";
import { presentQueue } from "../rules/claim.ts";

/** The queues of records. Which groups a record has that is elsewhere, is read there. */
export async function readQueues(
  db: Transaction,
  names: readonly RecordName[],
  elsewhere: PlacedRecords,
): Promise<readonly ReadQueue[]> {
  const queues = await readStored(db, names);
  const attached = names.filter((_, i) => queues[i]?.isAttached);
  if (attached.length === 0) return queues;
  const found = new Map<string, readonly string[]>();
  for (const tenant of new Set(attached.map((name) => name.tenant)))
    for (const [key, groups] of await groupsElsewhere(
      db,
      elsewhere,
      tenant,
      attached.filter((name) => name.tenant === tenant),
    ))
      found.set(`${tenant} ${key}`, groups);
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

const keyOf = ({ tenant, model, id }: RecordName): string => `${tenant} ${recordKey(model, id)}`;
