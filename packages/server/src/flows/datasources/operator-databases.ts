import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../db/connection/pool.ts";
import { transaction } from "../../db/connection/transaction.ts";
import { readService } from "../../db/datasources/database-owner.ts";
import {
  closeToNew,
  countOwnTenants,
  deleteDatasource,
  findOperatorDatabase,
  insertDatasource,
  listOperatorDatabases,
  listTenantsIn,
  lockTenant,
  type OperatorDatabase,
  readHome,
} from "../../db/datasources/datasources.ts";
import { insertMove, type Move, readMove, readMoveError } from "../../db/moves/moves.ts";
import { listOrganizations, tenantOf } from "../../db/organizations/organizations.ts";
import { newId } from "../../ids.ts";
import { readConnectionString } from "../../rules/datasources/connection-string.ts";
import { isRefusal } from "../../rules/refusal.ts";
import type { Encryption } from "../webhooks/webhook-secrets.ts";
import { prepareDatabase } from "./check-database.ts";

/** A database command that cannot be carried out. The message is a sentence for the operator. */
export class DatabaseError extends Error {}

/** The service's own database, as the commands call it. */
const OWN = "own";

/** What `holdfast databases` and `holdfast tenants` do, straight on the service's own database. */
export interface OperatorDatabases {
  add(name: string, connectionString: string): Promise<void>;
  /** The service's own first. */
  list(): Promise<readonly (Pick<OperatorDatabase, "name" | "host" | "database"> & { tenants: number })[]>;
  /** Only an empty one. */
  remove(name: string): Promise<void>;
  /** Asks for moves, which running servers carry out. Returns the tenants that are on their way. */
  move(organization: string, environments: readonly ("live" | "test")[], to: string): Promise<number[]>;
  /** Asks to move all tenants of a database into the service's own. */
  drain(name: string): Promise<number[]>;
  /** Those that are still on their way, with the newest error. */
  underWay(tenants: readonly number[]): Promise<readonly { tenant: number; problem: string | null }[]>;
}

/** How long a request waits for the end of an earlier move. */
const PATIENCE_MS = 30_000;
const ASK_MS = 100;

export function operatorDatabases(db: Database, encryption: Encryption): OperatorDatabases {
  async function find(name: string): Promise<OperatorDatabase> {
    const found = await findOperatorDatabase(db, name);
    if (!found) throw new DatabaseError(`There is no database ${name}: see holdfast databases list.`);
    return found;
  }

  /** A tenant that is there already is left out. */
  async function ask(tenant: number, target: string | null): Promise<Move | undefined> {
    await transaction(db, async (tx) => {
      await lockTenant(tx, tenant);
      await insertMove(tx, { id: newId("mov_"), tenant, target });
    });
    return await readMove(db, tenant);
  }

  /** A move that has just arrived may not be over yet. */
  async function askSoon(tenant: number, target: string | null): Promise<void> {
    const until = performance.now() + PATIENCE_MS;
    for (let move = await ask(tenant, target); move && move.target !== target; move = await ask(tenant, target)) {
      if (performance.now() > until)
        throw new DatabaseError(`The tenant ${tenant} is on its way elsewhere: try again when it has arrived.`);
      await sleep(ASK_MS);
    }
  }

  return {
    async add(name, connectionString) {
      if (name === OWN || !/^[a-z][a-z0-9_-]{0,62}$/.test(name))
        throw new DatabaseError(`"${name}" cannot be a database's name: use small letters, digits, - and _.`);
      if (await findOperatorDatabase(db, name)) throw new DatabaseError(`There is a database ${name} already.`);
      const address = readConnectionString(connectionString);
      if (isRefusal(address)) throw new DatabaseError(address.message ?? address.code);
      const service = await readService(db);
      if (!service) throw new DatabaseError("The service's own database is not migrated.");
      const refused = await prepareDatabase({ service, mayReach: async () => true })(address);
      if (refused) throw new DatabaseError(refused.message ?? refused.code);
      const id = newId("ds_");
      const { url, host, database } = address;
      await insertDatasource(db, {
        ...{ id, tenant: null, connection: encryption.encrypt(url, id), host, database },
        ...{ schema: "public", displayName: name, metadata: {} },
      });
    },
    async list() {
      const others = await listOperatorDatabases(db);
      return [{ name: OWN, host: "", database: "", tenants: await countOwnTenants(db) }, ...others];
    },
    async remove(name) {
      const { id } = await find(name);
      if (!(await deleteDatasource(db, id)))
        throw new DatabaseError(`Tenants live in ${name}: holdfast databases drain ${name} moves them away.`);
    },
    async move(organization, environments, to) {
      if (!(await listOrganizations(db)).some(({ id }) => id === organization))
        throw new DatabaseError(`The organization ${organization} does not exist.`);
      const target = to === OWN ? null : (await find(to)).id;
      const asked: number[] = [];
      for (const environment of environments) {
        const tenant = (await tenantOf(db, organization, environment === "live")) as number;
        const move = (await readHome(db, tenant)) === target ? undefined : await ask(tenant, target);
        if (move && move.target !== target)
          throw new DatabaseError(`The ${environment} tenant is on its way elsewhere: try again when it has arrived.`);
        if (move) asked.push(tenant);
      }
      return asked;
    },
    async drain(name) {
      const { id } = await find(name);
      await closeToNew(db, id);
      const tenants = await listTenantsIn(db, id);
      for (const tenant of tenants) await askSoon(tenant, null);
      return tenants;
    },
    underWay: (tenants) => readMoveError(db, tenants),
  };
}
