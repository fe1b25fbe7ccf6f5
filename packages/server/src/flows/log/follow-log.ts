import { limits } from "@holdfast/sdk/protocol";
import { type PolledHead, type ReadableHead, readHeads, readPolledHeads } from "../../db/commits/heads.ts";
import type { Database } from "../../db/connection/pool.ts";
import { readLog } from "../../db/log/log.ts";
import { readTails, type StoredTail, type TailQuestion } from "../../db/log/log-tails.ts";
import type { StoredEntry } from "../../rules/commits/stored-entry.ts";
import { schemaAt } from "../schema/live-schema.ts";
import type { LiveSchema, SchemaCache } from "../schema/schema-cache.ts";
import { createBatch } from "../tokens/batch.ts";

export type { PolledHead, TailQuestion };

/** A part of a tenant's log, with the schema by which it is shown. */
export interface TailPage extends Omit<StoredTail, "schemaVersion"> {
  readonly schema: LiveSchema;
}

/** Where a log ends, and how its records look. */
export interface LogStanding {
  readonly head: ReadableHead;
  readonly schema: LiveSchema;
}

/** What those who follow a log ask of the database. */
export interface FollowLog {
  /** Tenants that are asked for at the same time are read together. */
  standing(tenant: number): Promise<LogStanding>;
  /** Where several logs and their claims end, and the version of each tenant's schema. */
  heads(tenants: readonly number[]): Promise<ReadonlyMap<number, PolledHead>>;
  /** Entries in (after, to], in order: as many as a page may have. Not one right after `after`: it is no longer kept. */
  entries(tenant: number, after: number, to: number): Promise<readonly StoredEntry[]>;
  /** What several tenants' logs hold beyond a position, as much as one statement may bring. */
  tails(questions: readonly TailQuestion[]): Promise<readonly TailPage[]>;
}

export function followLog(db: Database, schemas: SchemaCache): FollowLog {
  const headOf = createBatch((tenants: readonly number[]) => readHeads(db, tenants));
  const schemaOf = (tenant: number, version: number) => schemaAt(db, schemas, tenant, version);
  return {
    async standing(tenant) {
      const head = await headOf(tenant);
      if (!head) throw new Error(`Tenant ${tenant} has no head.`);
      return { head, schema: await schemaOf(tenant, head.schemaVersion) };
    },
    heads: (tenants) => readPolledHeads(db, tenants),
    entries: (tenant, after, to) => readLog(db, tenant, { after, to, bytes: limits.pageBytes }),
    async tails(questions) {
      const pages = await readTails(db, questions);
      return await Promise.all(
        pages.map(async ({ schemaVersion, ...page }) => ({
          ...page,
          schema: await schemaOf(page.tenant, schemaVersion),
        })),
      );
    },
  };
}
