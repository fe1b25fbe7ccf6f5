import { serverLimits } from "@holdfast/sdk/protocol";
import { openPipe } from "../../db/connection/pipe.ts";
import type { Database } from "../../db/connection/pool.ts";
import { listAllSources } from "../../db/sources/sources.ts";
import { liveSchema } from "../schema/live-schema.ts";
import { createSchemaCache } from "../schema/schema-cache.ts";
import type { CallSource } from "./call-source.ts";
import { observeRecords } from "./observe-records.ts";
import { SourceError, type VerifiedModel, type VerifyOptions, verifyModel } from "./verify-source.ts";

/** What `holdfast datasources` does, straight on the database. */
export interface SourceTools {
  /** Compares endpoint datasources, or all of them, with the records here. One result for each model. */
  verify(ids: readonly string[], options: VerifyOptions): AsyncIterable<VerifiedModel & { readonly source: string }>;
}

/** Longer than a server waits before it reads events again: see parts/followed-sources.ts. */
const SETTLE_MS = 5_000;

export function openSourceTools(pool: Database, url: string, call: CallSource): SourceTools {
  return {
    async *verify(ids, options) {
      const all = await listAllSources(pool);
      const unknown = ids.find((id) => !all.some((one) => one.id === id));
      if (unknown !== undefined) throw new SourceError(`This database has no endpoint datasource ${unknown}.`);
      const { recordBytes, commitBytes } = serverLimits;
      const schemas = createSchemaCache();
      const rules = { schemas, recordBytes, commitBytes, roundBytes: commitBytes };
      const pipe = await openPipe(url, { lockTimeoutMs: 5_000 });
      try {
        for (const source of all.filter(({ id }) => ids.length === 0 || ids.includes(id))) {
          const schema = await liveSchema(pool, schemas, source.tenant);
          const deps = { db: pool, schema, recordBytes, call, settleMs: SETTLE_MS };
          const observe = async (observation: Parameters<typeof observeRecords>[2]) =>
            (await observeRecords(pipe, rules, observation)).left;
          for (const declared of schema.models.values())
            if (declared.model.source === source.id)
              yield { source: source.id, ...(await verifyModel({ ...deps, observe }, source, declared, options)) };
        }
      } finally {
        await pipe.close();
      }
    },
  };
}
