import type { Database } from "./connection/pool.ts";
import type { SchemaCache } from "./schema/flows/schema-cache.ts";
import type { Principal } from "./tokens/rules/participant.ts";

/** The id of the database where a tenant is. Null: the service's own. */
export type TenantPlace = Pick<Principal, "database">;

/** Where a tenant's records and log are. */
export interface TenantData {
  readonly pool: Database;
  readonly schemas: SchemaCache;
}

/** Finds a tenant's data. Rejects if its database is away. */
export type DataOf = (tenant: TenantPlace) => TenantData | Promise<TenantData>;

/** A database that tenants are in or move to. */
export interface UsedDatabase {
  readonly id: string;
  /** As the operator calls it. Null: it is a tenant's own. */
  readonly name: string | null;
  /** The tenant whose own it is, and who is there. Null: it is on its way, or the database is the operator's. */
  readonly onlyTenant: number | null;
  /** Differs once another address is registered. */
  readonly address: string;
}

/** Knows the databases beside the service's own. */
export interface Directory {
  /** Rejects with an `AwayError` if there is no such database, or it must not be used. */
  addressOf(id: string): Promise<{ readonly url: string } & Pick<UsedDatabase, "address">>;
  /** Their hosts, by id. */
  hosts(): Promise<ReadonlyMap<string, string>>;
}
