import { limits } from "@holdfast/sdk/protocol";
import { readHead, readPositions } from "../db/heads.ts";
import { readLog } from "../db/log.ts";
import type { Database } from "../db/pool.ts";
import type { StoredEntry } from "../rules/entry-text.ts";
import type { Head as StoredHead } from "../rules/world-state.ts";
import { liveSchema } from "./live-schema.ts";
import type { LiveSchema, SchemaCache } from "./schema-cache.ts";

/** What those who follow a log ask of the database. */
export interface FollowLog {
  head(world: number): Promise<StoredHead>;
  /** Where several logs end, and the version of each world's schema. */
  positions(worlds: readonly number[]): Promise<ReadonlyMap<number, { syncId: number; schemaVersion: number }>>;
  /** Entries in (after, to], in order: as many as a page may have. Not one right after `after`: it is no longer kept. */
  entries(world: number, after: number, to: number): Promise<readonly StoredEntry[]>;
  schema(world: number): Promise<LiveSchema>;
}

export const followLog = (db: Database, schemas: SchemaCache): FollowLog => ({
  head: (world) => readHead(db, world),
  positions: (worlds) => readPositions(db, worlds),
  entries: (world, after, to) => readLog(db, world, { after, to, bytes: limits.pageBytes }),
  schema: (world) => liveSchema(db, schemas, world),
});
