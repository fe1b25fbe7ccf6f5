import {
  type Datasource,
  type DatasourceBody,
  type DatasourceKey,
  isRecordId,
  sourceLimits,
} from "@holdfast/sdk/protocol";
import { newId } from "../../../ids.ts";
import { lockHead } from "../../../kernel/commits/db/heads.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import { transaction } from "../../../kernel/connection/transaction.ts";
import type { DatasourceKind } from "../../../kernel/datasource-kind.ts";
import { listTenants } from "../../../kernel/organizations/db/organizations.ts";
import { isRefusal, type Refusal, refuse } from "../../../kernel/refusal.ts";
import { readSchema } from "../../../kernel/schema/db/model-schemas.ts";
import type { DataOf } from "../../../kernel/tenant-data.ts";
import type { Principal } from "../../../kernel/tokens/rules/participant.ts";
import { withdrawIntents } from "../db/intents.ts";
import {
  deleteSource,
  insertSource,
  listSources,
  readSource,
  rotateSourceKey,
  type StoredSource,
} from "../db/sources.ts";
import { presentSource } from "../rules/present-source.ts";
import type { SourceKeys } from "./call-source.ts";

export interface SourceFlowsDeps {
  /** The service's own database. */
  readonly db: Database;
  readonly dataOf: DataOf;
  readonly keys: SourceKeys;
  readonly rotationMs: number;
  /** Returns the canonical form of a URL, or a refusal if nothing may be sent there. */
  checkUrl(text: string): Promise<string | Refusal>;
  /** Reads the source's events for the first time. Resolves when it has answered, or after a while. */
  verify(by: Principal, source: StoredSource): Promise<void>;
}

/** Registers, lists and removes the endpoint datasources of tenants. */
export function sourceFlows({ db, dataOf, keys, rotationMs, checkUrl, verify }: SourceFlowsDeps): DatasourceKind {
  async function shown(by: Principal, id: string): Promise<Datasource | undefined> {
    const found = await readSource((await dataOf(by)).pool, by.tenant, id);
    return found && presentSource(found, by.livemode, Date.now());
  }

  async function listAll(by: Principal): Promise<PromiseSettledResult<Datasource[]>[]> {
    const tenants = await listTenants(db, by.organization);
    return await Promise.allSettled(
      tenants.map(async ({ id, livemode, database }) => {
        const sources = await listSources((await dataOf({ database })).pool, id);
        return sources.map((source) => presentSource(source, livemode, Date.now()));
      }),
    );
  }

  return {
    connection: "endpoint",
    async create(by: Principal, body: DatasourceBody): Promise<Datasource | Refusal> {
      const { endpoint = "", signingKey = "", display_name: displayName = null, metadata = {} } = body;
      const url = await checkUrl(endpoint);
      if (isRefusal(url)) return url;
      const secret = readKey(signingKey);
      if (isRefusal(secret)) return secret;
      const { pool } = await dataOf(by);
      const named = { tenant: by.tenant, id: newId(by.livemode ? "ds_" : "ds_test_") };
      const refused = await transaction(pool, async (tx) => {
        await lockHead(tx, by.tenant);
        if ((await listSources(tx, by.tenant)).length >= sourceLimits.endpoints)
          return refuse("datasource_exists", {
            message: `The tenant already has ${sourceLimits.endpoints} endpoint datasources. Delete one first.`,
          });
        await insertSource(tx, {
          ...{ ...named, endpoint: url, key: keys.seal(secret, named), keyLast4: secret.slice(-4) },
          ...{ displayName, metadata },
        });
        return undefined;
      });
      if (refused) return refused;
      const made = await readSource(pool, by.tenant, named.id);
      if (made) await verify(by, made);
      return (await shown(by, named.id)) ?? refuse("datasource_not_found");
    },
    /** Of both environments. Those of a tenant whose database is away are left out. */
    list: async (by: Principal): Promise<Datasource[]> =>
      (await listAll(by)).flatMap((list) => (list.status === "fulfilled" ? list.value : [])),
    /** Undefined: there is none. Rejects if a database is away that may have it. */
    async read(by: Principal, id: string): Promise<Datasource | undefined> {
      const lists = await listAll(by);
      const found = lists
        .flatMap((list) => (list.status === "fulfilled" ? list.value : []))
        .find((one) => one.id === id);
      const away = lists.find((list) => list.status === "rejected");
      if (!found && away) throw away.reason;
      return found;
    },
    /** Undefined: it is not an endpoint of this environment. */
    async remove(by: Principal, id: string): Promise<"removed" | Refusal | undefined> {
      if (!isRecordId(id)) return undefined;
      const { pool } = await dataOf(by);
      return await transaction(pool, async (tx) => {
        const { schemaVersion } = await lockHead(tx, by.tenant);
        if (!(await readSource(tx, by.tenant, id))) return undefined;
        const models = (await readSchema(tx, by.tenant, schemaVersion))?.models ?? {};
        const own = Object.keys(models).filter((name) => models[name]?.source === id);
        if (own.length > 0)
          return refuse("datasource_has_models", {
            message: `Models name this datasource as their source: ${own.join(", ")}. Push a schema without it first.`,
          });
        await withdrawIntents(tx, by.tenant, id);
        await deleteSource(tx, by.tenant, id);
        return "removed";
      });
    },
    async rotate(by: Principal, id: string, { signingKey }: DatasourceKey): Promise<Datasource | Refusal | undefined> {
      if (!isRecordId(id)) return undefined;
      const { pool } = await dataOf(by);
      if (!(await readSource(pool, by.tenant, id))) return undefined;
      if (signingKey === undefined) return refuse("missing_field", { param: "signingKey" });
      const secret = readKey(signingKey);
      if (isRefusal(secret)) return secret;
      const named = { tenant: by.tenant, id };
      await rotateSourceKey(pool, { ...named, key: keys.seal(secret, named), keyLast4: secret.slice(-4) }, rotationMs);
      return await shown(by, id);
    },
  };
}

const KEY_BYTES = { min: 24, max: 64 };

/** As the webhooks' secrets: `whsec_` and base64. */
function readKey(text: string): string | Refusal {
  const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text.trim())?.[1] ?? "";
  const { length } = Buffer.from(base64, "base64");
  if (length >= KEY_BYTES.min && length <= KEY_BYTES.max) return `whsec_${base64}`;
  return refuse("invalid_value", {
    param: "signingKey",
    message: `"signingKey" must be whsec_ and ${KEY_BYTES.min} to ${KEY_BYTES.max} bytes in base64: "openssl rand -base64 32" makes them.`,
  });
}
