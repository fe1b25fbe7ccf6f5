import type { Database } from "../db/pool.ts";
import { type ClaimChange, type ReadLine, readClaimChanges, readClaimHeads, readLines } from "../db/read-claims.ts";
import type { RecordName } from "../db/records.ts";
import { createBatch } from "./batch.ts";
import { liveSchema } from "./live-schema.ts";
import type { SchemaCache } from "./schema-cache.ts";

export type { ClaimChange, ReadLine };

/** What those who follow claims ask of the database. */
export interface FollowClaims {
  /** The number of the last change. Worlds that are asked for at the same time are read together. */
  lastChange(world: number): Promise<number>;
  changes(world: number, after: number): Promise<readonly ClaimChange[]>;
  lines(names: readonly RecordName[]): Promise<readonly ReadLine[]>;
  /** From a model's lower-case name to its declared one. */
  modelNames(world: number): Promise<(model: string) => string>;
}

export function followClaims(db: Database, schemas: SchemaCache): FollowClaims {
  const lastChange = createBatch((worlds: readonly number[]) => readClaimHeads(db, worlds));
  return {
    lastChange: async (world) => (await lastChange(world)) ?? 0,
    changes: (world, after) => readClaimChanges(db, world, after),
    lines: (names) => readLines(db, names),
    modelNames: async (world) => {
      const { models } = await liveSchema(db, schemas, world);
      return (model) => models.get(model)?.name ?? model;
    },
  };
}
