import type { Datasource, DatasourceBody, DatasourceKey } from "@holdfast/sdk/protocol";
import { newId } from "../../../ids.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import { transaction } from "../../../kernel/connection/transaction.ts";
import type { DatabaseHealth } from "../../../kernel/database-health.ts";
import type { DatasourceKind } from "../../../kernel/datasource-kind.ts";
import type { Encryption } from "../../../kernel/encryption.ts";
import { listTenants, readOrganization } from "../../../kernel/organizations/db/organizations.ts";
import { isRefusal, type Refusal, refuse } from "../../../kernel/refusal.ts";
import type { DataOf } from "../../../kernel/tenant-data.ts";
import type { Principal } from "../../../kernel/tokens/rules/participant.ts";
import {
  insertDatasource,
  listDatasources,
  lockTenant,
  replaceConnection,
  type TenantDatasource,
} from "../db/datasources.ts";
import { insertMove } from "../db/moves.ts";
import { hasAttachedTables } from "../db/tenant-rows.ts";
import { type DatabaseAddress, readConnectionString } from "../rules/connection-string.ts";
import { hostedDatasources, isHosted, presentDatasource } from "../rules/present-datasource.ts";
import type { PrepareDatabase } from "./check-database.ts";
import type { RegisteredDatabase } from "./replace-address.ts";

/** Registers, lists and removes the databases and services of tenants. */
export interface DatasourceFlows {
  create(by: Principal, body: DatasourceBody): Promise<Datasource | Refusal>;
  /** The datasources of both environments. */
  list(by: Principal): Promise<Datasource[]>;
  /** Undefined: no such datasource. */
  read(by: Principal, id: string): Promise<Datasource | undefined>;
  /** The tenant's data moves back; the datasource goes once it has. */
  remove(by: Principal, id: string): Promise<"removed" | Refusal>;
  rotate(by: Principal, id: string, key: DatasourceKey): Promise<Datasource | Refusal>;
}

export interface DatasourceDeps {
  readonly db: Database;
  kinds(): readonly DatasourceKind[];
  readonly encryption: Encryption;
  readonly prepare: PrepareDatabase;
  /** Why an address may not take the place of another one. */
  replaces(before: RegisteredDatabase, next: DatabaseAddress): Promise<Refusal | undefined>;
  readonly dataOf: DataOf;
  healthOf(id: string): DatabaseHealth;
  /** A move was asked for. Resolves when it is over, or after a while. */
  moveSoon(tenant: number): Promise<void>;
  /** For a tenant on its way: gives a move to this datasource up. "leaving": also if the tenant is moving away from it. */
  leave(by: Principal, id: string): Promise<"leaving" | "busy">;
  /** The database has other credentials now. */
  reopen(id: string): void;
}

export function datasourceFlows(deps: DatasourceDeps): DatasourceFlows {
  const { db, kinds, encryption, prepare, replaces, dataOf, healthOf, moveSoon, leave, reopen } = deps;

  const own = (organization: string) => listDatasources(db, organization);
  const shown = (one: TenantDatasource) => presentDatasource(one, healthOf(one.id));
  async function hosted(organization: string): Promise<Datasource[]> {
    const registered = new Set((await own(organization)).map(({ id }) => id));
    const tenants = await listTenants(db, organization);
    const isAway = (wanted: boolean) =>
      tenants.some(
        ({ livemode, database }) =>
          livemode === wanted &&
          database !== null &&
          !registered.has(database) &&
          healthOf(database).problem !== undefined,
      );
    const { createdAt } = await readOrganization(db, organization);
    return hostedDatasources(createdAt, { live: isAway(true), test: isAway(false) });
  }

  async function find({ organization }: Principal, id: string): Promise<TenantDatasource | Refusal> {
    if (isHosted(id)) return refuse("datasource_hosted");
    return (await own(organization)).find((one) => one.id === id) ?? refuse("datasource_not_found");
  }

  async function present(by: Principal, id: string): Promise<Datasource | Refusal> {
    const found = await find(by, id);
    return isRefusal(found) ? found : shown(found);
  }

  return {
    async create(by, body) {
      const wrong = checkKeys(body);
      if (wrong) return wrong;
      const other = kinds().find(({ connection }) => connection === body.connection);
      if (other) return await other.create(by, body);
      const { connectionString = "", schema = "public", display_name: displayName = null, metadata = {} } = body;
      const address = readConnectionString(connectionString);
      if (isRefusal(address)) return address;
      const unfit = (await livesInTables(by)) ? refuse("datasource_has_tables") : await prepare(address);
      if (unfit) return unfit;
      const id = newId(by.livemode ? "ds_" : "ds_test_");
      const { url, host, database } = address;
      const refused = await transaction(db, async (tx) => {
        await lockTenant(tx, by.tenant);
        if ((await listDatasources(tx, by.organization)).some(({ tenant }) => tenant === by.tenant))
          return refuse("datasource_exists");
        const connection = encryption.encrypt(url, id);
        await insertDatasource(tx, {
          id,
          tenant: by.tenant,
          connection,
          host,
          database,
          schema,
          displayName,
          metadata,
        });
        return (await insertMove(tx, { id: newId("mov_"), tenant: by.tenant, target: id }))
          ? undefined
          : refuse("datasource_busy");
      });
      if (refused) return refused;
      await moveSoon(by.tenant);
      return await present(by, id);
    },
    list: async (by) => [
      ...(await hosted(by.organization)),
      ...(await own(by.organization)).map(shown),
      ...(await Promise.all(kinds().map((kind) => kind.list(by)))).flat(),
    ],
    async read(by, id) {
      if (isHosted(id)) return (await hosted(by.organization)).find((one) => one.id === id);
      const found = await find(by, id);
      return isRefusal(found) ? await ofOther((kind) => kind.read(by, id)) : shown(found);
    },
    async remove(by, id) {
      const found = await find(by, id);
      if (isRefusal(found)) return isHosted(id) ? found : ((await ofOther((kind) => kind.remove(by, id))) ?? found);
      // A key of the other environment may see it, and not change it.
      if (found.tenant !== by.tenant) return refuse("datasource_not_found");
      if (!found.moving && healthOf(id).problem !== undefined) return refuse("unavailable", { message: AWAY });
      if (await livesInTables(by)) return refuse("datasource_has_tables");
      if (found.moving) return (await leave(by, id)) === "leaving" ? "removed" : refuse("datasource_busy");
      if (!(await transaction(db, (tx) => insertMove(tx, { id: newId("mov_"), tenant: by.tenant, target: null }))))
        return refuse("datasource_busy");
      await moveSoon(by.tenant);
      return "removed";
    },
    async rotate(by, id, key) {
      const { connectionString } = key;
      const found = await find(by, id);
      if (isRefusal(found))
        return isHosted(id) ? found : ((await ofOther((kind) => kind.rotate(by, id, key))) ?? found);
      if (found.tenant !== by.tenant) return refuse("datasource_not_found");
      if (connectionString === undefined) return refuse("missing_field", { param: "connectionString" });
      const address = readConnectionString(connectionString);
      if (isRefusal(address)) return address;
      const { url, host, database } = address;
      const before = { ...found, tenants: [by.tenant], url: encryption.decrypt(found.connection, id) };
      const unfit = (await replaces(before, address)) ?? (await prepare(address));
      if (unfit) return unfit;
      await transaction(db, (tx) =>
        replaceConnection(tx, { id, connection: encryption.encrypt(url, id), host, database }),
      );
      reopen(id);
      return await present(by, id);
    },
  };

  async function ofOther<T>(ask: (kind: DatasourceKind) => Promise<T | undefined>): Promise<T | undefined> {
    for (const kind of kinds()) {
      const found = await ask(kind);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async function livesInTables(by: Principal): Promise<boolean> {
    return await hasAttachedTables((await dataOf(by)).pool, by.tenant);
  }
}

const AWAY =
  "The database with the tenant's data is unavailable: see last_error of the datasource. If the database is lost, ask the operator of the service to give the tenant an empty log.";

const KEYS_OF = { direct: ["connectionString"], endpoint: ["endpoint", "signingKey"] } as const;
const OTHERS = { direct: ["endpoint", "signingKey"], endpoint: ["connectionString", "schema"] } as const;

/** Each kind has keys of its own. */
function checkKeys(body: DatasourceBody): Refusal | undefined {
  const other = OTHERS[body.connection].find((key) => body[key] !== undefined);
  if (other)
    return refuse("unknown_field", {
      param: other,
      message: `"${other}" is not a key of a datasource with connection "${body.connection}".`,
    });
  const missing = KEYS_OF[body.connection].find((key) => body[key] === undefined);
  return missing && refuse("missing_field", { param: missing });
}
