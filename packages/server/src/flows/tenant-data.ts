import type { Database } from "../db/connection/pool.ts";
import type { Principal } from "../rules/tokens/participant.ts";
import type { SchemaCache } from "./schema/schema-cache.ts";

/** Where a tenant's records and log are. */
export interface TenantData {
  readonly pool: Database;
  readonly schemas: SchemaCache;
}

/** Finds a tenant's data. Rejects if its database is away. */
export type DataOf = (tenant: Pick<Principal, "home">) => TenantData | Promise<TenantData>;
