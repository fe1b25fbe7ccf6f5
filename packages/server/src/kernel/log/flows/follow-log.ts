import { limits } from "@holdfast/sdk/protocol";
import { type PolledHead, type ReadableHead, readHeads, readPolledHeads } from "../../commits/db/heads.ts";
import { TenantElsewhere } from "../../commits/db/tenant-elsewhere.ts";
import type { StoredEntry } from "../../commits/rules/stored-entry.ts";
import type { Database } from "../../connection/pool.ts";
import { schemaAt } from "../../schema/flows/live-schema.ts";
import type { LiveSchema, SchemaCache } from "../../schema/flows/schema-cache.ts";
import { createBatch } from "../../tokens/flows/batch.ts";
import { readLog } from "../db/log.ts";
import { readTails, type StoredTail, type TailQuestion } from "../db/log-tails.ts";

export type { PolledHead, TailQuestion };

/** A range of a tenant's log, with the schema to present it by. */
export interface TailPage extends Omit<StoredTail, "schemaVersion"> {
  readonly schema: LiveSchema;
}

/** The head of a log, and the current schema. */
export interface CurrentLog {
  readonly head: ReadableHead;
  readonly schema: LiveSchema;
}

/** The reads for clients that follow a log. */
export interface FollowLog {
  /** Concurrent calls for several tenants share one query. */
  current(tenant: number): Promise<CurrentLog>;
  /** The heads of several logs and their claims, and the version of each tenant's schema. */
  heads(tenants: readonly number[]): Promise<ReadonlyMap<number, PolledHead>>;
  /**
   * Up to one page of entries in (after, to], in order. If the first one does not directly follow `after`, the entries
   * in between are trimmed.
   */
  entries(tenant: number, after: number, to: number): Promise<readonly StoredEntry[]>;
  /** The entries of several tenants beyond a position each, limited to what one statement may return. */
  tails(questions: readonly TailQuestion[]): Promise<readonly TailPage[]>;
}

export function followLog(db: Database, schemas: SchemaCache): FollowLog {
  const headOf = createBatch((tenants: readonly number[]) => readHeads(db, tenants));
  const schemaOf = (tenant: number, version: number) => schemaAt(db, schemas, tenant, version);
  return {
    async current(tenant) {
      const head = await headOf(tenant);
      if (!head) throw new TenantElsewhere(tenant);
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
