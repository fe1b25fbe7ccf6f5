import type { RecordName } from "../../../kernel/commits/db/records.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import type { PlacedRecords } from "../../../kernel/lists/flows/present-groups.ts";
import { liveSchema } from "../../../kernel/schema/flows/live-schema.ts";
import type { SchemaCache } from "../../../kernel/schema/flows/schema-cache.ts";
import { createBatch } from "../../../kernel/tokens/flows/batch.ts";
import { type ClaimChange, type ReadQueue, readClaimChanges, readClaimHeads } from "../db/read-claims.ts";
import { readQueues } from "./read-queues.ts";

export type { ClaimChange, ReadQueue };

/** The reads for clients that follow claims. */
export interface FollowClaims {
  /** The number of the last change. Concurrent calls for several tenants share one query. */
  lastChange(tenant: number): Promise<number>;
  changes(tenant: number, after: number): Promise<readonly ClaimChange[]>;
  queues(names: readonly RecordName[]): Promise<readonly ReadQueue[]>;
  /** Maps a model's lower-case name to its declared name. */
  modelNames(tenant: number): Promise<(model: string) => string>;
}

export function followClaims(db: Database, elsewhere: PlacedRecords, schemas: SchemaCache): FollowClaims {
  const lastChange = createBatch((tenants: readonly number[]) => readClaimHeads(db, tenants));
  return {
    lastChange: async (tenant) => (await lastChange(tenant)) ?? 0,
    changes: (tenant, after) => readClaimChanges(db, tenant, after),
    queues: (names) => readQueues(db, names, elsewhere),
    modelNames: async (tenant) => {
      const { models } = await liveSchema(db, schemas, tenant);
      return (model) => models.get(model)?.name ?? model;
    },
  };
}
