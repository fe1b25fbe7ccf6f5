import { serverLimits } from "@holdfast/sdk/protocol";
import type { InRounds } from "../../../kernel/commits/flows/in-rounds.ts";
import { openPipe } from "../../../kernel/connection/pipe.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import { liveSchema } from "../../../kernel/schema/flows/live-schema.ts";
import { createSchemaCache } from "../../../kernel/schema/flows/schema-cache.ts";
import { listAllSources, type StoredSource } from "../db/sources.ts";
import type { CallSource } from "./call-source.ts";
import { observeRecords } from "./observe-records.ts";
import { SourceError, type VerifiedModel, type VerifyDeps, type VerifyOptions, verifyModel } from "./verify-source.ts";

/** What `holdfast datasources` does, straight on the databases. */
export interface SourceTools extends Pick<SourceToolsDeps, "away"> {
  /** Compares endpoint datasources, or all of them, with the records here. One result for each model. */
  verify(ids: readonly string[], options: VerifyOptions): AsyncIterable<VerifiedModel & { readonly source: string }>;
}

/** Longer than a server waits before it reads events again: see modules/sources/follow-sources.ts. */
const SETTLE_MS = 5_000;

/** A database of the service. */
export interface SourceDatabase {
  readonly name: string;
  readonly pool: Database;
  readonly url: string;
}

export interface SourceToolsDeps {
  readonly databases: readonly SourceDatabase[];
  /** Databases that cannot be asked. */
  readonly away: readonly { readonly name: string; readonly problem?: string | undefined }[];
  readonly call: CallSource;
  readonly problemOf: VerifyDeps["problemOf"];
  /** In rounds of commits. */
  readonly modules: readonly InRounds[];
}

export function openSourceTools({ databases, away, call, modules, problemOf }: SourceToolsDeps): SourceTools {
  async function* verifyIn(
    { pool, url }: SourceDatabase,
    sources: readonly StoredSource[],
    options: VerifyOptions,
  ): AsyncGenerator<VerifiedModel & { source: string }> {
    const { recordBytes, commitBytes } = serverLimits;
    const schemas = createSchemaCache();
    const rules = { schemas, modules, recordBytes, commitBytes, roundBytes: commitBytes };
    const pipe = await openPipe(url, { lockTimeoutMs: 5_000 });
    try {
      for (const source of sources) {
        const schema = await liveSchema(pool, schemas, source.tenant);
        const deps = { db: pool, schema, recordBytes, call, problemOf, settleMs: SETTLE_MS };
        const observe = async (observation: Parameters<typeof observeRecords>[2]) =>
          (await observeRecords(pipe, rules, observation)).left;
        for (const declared of schema.models.values())
          if (declared.model.source === source.id)
            yield { source: source.id, ...(await verifyModel({ ...deps, observe }, source, declared, options)) };
      }
    } finally {
      await pipe.close();
    }
  }

  return {
    away,
    async *verify(ids, options) {
      const found = await Promise.all(
        databases.map(async (database) => ({ database, sources: await listAllSources(database.pool) })),
      );
      const known = new Set(found.flatMap(({ sources }) => sources.map(({ id }) => id)));
      const unknown = ids.find((id) => !known.has(id));
      if (unknown !== undefined) throw new SourceError(`There is no endpoint datasource ${unknown}.`);
      for (const { database, sources } of found) {
        const asked = sources.filter(({ id }) => ids.length === 0 || ids.includes(id));
        if (asked.length > 0) yield* verifyIn(database, asked, options);
      }
    },
  };
}
