import type { Database } from "../db/pool.ts";
import { type ClaimChange, type ReadLine, readClaimChanges, readClaimHeads, readLines } from "../db/read-claims.ts";
import type { RecordName } from "../db/records.ts";
import { liveSchema } from "./live-schema.ts";
import type { SchemaCache } from "./schema-cache.ts";

export type { ClaimChange, ReadLine };

/** What those who follow claims ask of the database. */
export interface FollowClaims {
  /** The last change in each world. */
  heads(worlds: readonly number[]): Promise<ReadonlyMap<number, number>>;
  changes(world: number, after: number): Promise<readonly ClaimChange[]>;
  lines(names: readonly RecordName[]): Promise<readonly ReadLine[]>;
  /** From a model's lower-case name to its declared one. */
  modelNames(world: number): Promise<(model: string) => string>;
}

export const followClaims = (db: Database, schemas: SchemaCache): FollowClaims => ({
  heads: (worlds) => readClaimHeads(db, worlds),
  changes: (world, after) => readClaimChanges(db, world, after),
  lines: (names) => readLines(db, names),
  modelNames: async (world) => {
    const { models } = await liveSchema(db, schemas, world);
    return (model) => models.get(model)?.name ?? model;
  },
});
