import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "../../../ids.ts";
import { connectTo } from "../../../kernel/connection/connection.ts";
import { readService } from "../../../kernel/connection/database-owner.ts";
import { type Database, session } from "../../../kernel/connection/pool.ts";
import { transaction } from "../../../kernel/connection/transaction.ts";
import type { Encryption } from "../../../kernel/encryption.ts";
import { readIdentity } from "../../../kernel/log/db/log-epoch.ts";
import { listOrganizations, tenantOf } from "../../../kernel/organizations/db/organizations.ts";
import { isRefusal } from "../../../kernel/refusal.ts";
import {
  closeToNew,
  countOwnTenants,
  deleteDatasource,
  findOperatorDatabase,
  insertDatasource,
  listOperatorDatabases,
  listTenantsIn,
  listTenantsNowIn,
  lockTenant,
  type OperatorDatabase,
  readDatabaseOf,
  readDatasource,
  replaceConnection,
} from "../db/datasources.ts";
import { insertMove, listDirectory, type Move, readMove, readMoveError } from "../db/moves.ts";
import { readConnectionString } from "../rules/connection-string.ts";
import { type CheckDatabaseDeps, prepareDatabase } from "./check-database.ts";
import { giveUp } from "./move-tenant.ts";
import { endMove } from "./move-tenants.ts";
import {
  type Comparison,
  compareDirectory,
  logsOf,
  type Misplaced,
  OWN,
  type Place,
  type RecoveryDeps,
  RecoveryError,
  recoverTenant,
} from "./recover-tenant.ts";
import { checkReplacement } from "./replace-address.ts";

/** A database command that cannot be carried out. The message is a sentence for the operator. */
export class DatabaseError extends Error {}

/** What `holdfast databases` and `holdfast tenants` do, straight on the service's own database. */
export interface OperatorDatabases {
  add(name: string, connectionString: string): Promise<void>;
  /** Another password, role or host of the same database. */
  set(name: string, connectionString: string): Promise<void>;
  /** The service's own first. */
  list(): Promise<readonly (Pick<OperatorDatabase, "name" | "host" | "database"> & { tenants: number })[]>;
  /** Only an empty one. */
  remove(name: string): Promise<void>;
  /**
   * Asks for moves, which running servers carry out. Returns the tenants that are on their way. A move to where a tenant
   * lives gives up the one that is under way.
   */
  move(
    organization: string,
    environments: readonly ("live" | "test")[],
    to: string,
    options?: MoveOptions,
  ): Promise<number[]>;
  /** Asks to move all tenants of a database into the service's own. */
  drain(name: string): Promise<number[]>;
  /** Compares where tenants should live with where their logs are. */
  verify(): Promise<Comparison>;
  /** What a recovery would do: the log that is to count, and those that go. */
  planRecovery(organization: string, environment: "live" | "test", options: RecoveryOptions): Promise<PlannedRecovery>;
  /** Those that are still on their way, with the newest error. */
  underWay(tenants: readonly number[]): Promise<readonly { tenant: number; problem: string | null }[]>;
}

export interface MoveOptions {
  /** Also out of a database that the tenant's owner has registered. */
  readonly leavesOwn?: boolean;
}

export interface RecoveryOptions {
  /** The name of the database whose log counts. */
  readonly to: string;
  /** Where no log is left, an empty one begins. */
  readonly empty: boolean;
}

export interface PlannedRecovery {
  /** Undefined: it begins with an empty one. */
  readonly kept: Misplaced["logs"][number] | undefined;
  readonly lost: Misplaced["logs"];
  /** Databases that cannot be asked: what they have of the tenant does not count any more. */
  readonly unknown: readonly Place[];
  carryOut(): Promise<void>;
}

/** The operator may name any address. */
const ANY: Omit<CheckDatabaseDeps, "service"> = { mayReach: async () => true, guarded: (url) => url };

/** How long a request waits for the end of an earlier move. */
const PATIENCE_MS = 30_000;
const ASK_MS = 100;

/** `url`: the address of the service's own database. */
export function operatorDatabases(
  db: Database,
  encryption: Encryption,
  url: string,
  reach: RecoveryDeps["reach"],
): OperatorDatabases {
  const recovery = async (): Promise<RecoveryDeps> => ({ db, url, encryption, reach, service: await ownService() });

  async function urlOf(id: string | null): Promise<string> {
    if (id === null) return url;
    const found = await readDatasource(db, id);
    const text = found && encryption.decrypt(found.connection, id);
    const address = text === undefined ? undefined : readConnectionString(text);
    if (!found || !address || isRefusal(address)) throw new DatabaseError(`The address of ${id} cannot be read.`);
    return found.tenant === null ? address.url : reach.guarded(address.url);
  }

  /** Returns false if it has arrived, or is about to. */
  async function cancel(move: Move): Promise<boolean> {
    const never = new AbortController().signal;
    return (await giveUp(await urlOf(move.source), move.tenant, () => endMove(db, move), never)) === "leaving";
  }

  async function ownService(): Promise<Buffer> {
    const service = await readService(db);
    if (!service) throw new DatabaseError("The service's own database is not migrated.");
    return service;
  }

  async function find(name: string): Promise<OperatorDatabase> {
    if (name === OWN) throw new DatabaseError("own is the service's own database, the one of DATABASE_URL: it stays.");
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
        throw new DatabaseError(
          `The tenant ${tenant} is being moved to another database: try again when the move is finished.`,
        );
      await sleep(ASK_MS);
    }
  }

  /** Under which name the database is registered already. */
  async function nameOf(connection: string): Promise<string | undefined> {
    const client = await connectTo(connection, session);
    try {
      const identity = await readIdentity(client);
      const { places } = await compareDirectory(await recovery());
      return places.find((place) => identity !== undefined && place.identity === identity)?.name;
    } finally {
      await client.end();
    }
  }

  return {
    async add(name, connectionString) {
      if (name === OWN)
        throw new DatabaseError(
          "\"own\" cannot be a database's name: it means the service's own database, DATABASE_URL.",
        );
      if (!/^[a-z][a-z0-9_-]{0,62}$/.test(name))
        throw new DatabaseError(`"${name}" cannot be a database's name: use small letters, digits, - and _.`);
      if (await findOperatorDatabase(db, name)) throw new DatabaseError(`There is a database ${name} already.`);
      const address = readConnectionString(connectionString);
      if (isRefusal(address)) throw new DatabaseError(address.message ?? address.code);
      const service = await ownService();
      const refused = await prepareDatabase({ service, ...ANY })(address);
      if (refused?.code === "datasource_in_use")
        throw new DatabaseError("This database is the service's own, or another Holdfast service uses it.");
      if (refused) throw new DatabaseError(refused.message ?? refused.code);
      const twin = await nameOf(address.url);
      if (twin !== undefined) throw new DatabaseError(`This database is known already, as ${twin}.`);
      const id = newId("ds_");
      const { host, database } = address;
      await insertDatasource(db, {
        ...{ id, tenant: null, connection: encryption.encrypt(address.url, id), host, database },
        ...{ schema: "public", displayName: name, metadata: {} },
      });
    },
    async set(name, connectionString) {
      const { id } = await find(name);
      const found = await readDatasource(db, id);
      const address = readConnectionString(connectionString);
      if (isRefusal(address)) throw new DatabaseError(address.message ?? address.code);
      const deps = { service: await ownService(), ...ANY };
      const before = found && {
        ...found,
        tenants: await listTenantsNowIn(db, id),
        url: encryption.decrypt(found.connection, id),
      };
      const refused =
        (before && (await checkReplacement(deps, before, address))) ?? (await prepareDatabase(deps)(address));
      if (refused) throw new DatabaseError(refused.message ?? refused.code);
      const { host, database } = address;
      await replaceConnection(db, { id, connection: encryption.encrypt(address.url, id), host, database });
    },
    async list() {
      const others = await listOperatorDatabases(db);
      return [{ name: OWN, host: "", database: "", tenants: await countOwnTenants(db) }, ...others];
    },
    async remove(name) {
      const { id } = await find(name);
      if (!(await deleteDatasource(db, id)))
        throw new DatabaseError(`Tenants are in ${name}: holdfast databases drain ${name} moves them away.`);
    },
    async move(organization, environments, to, { leavesOwn = false } = {}) {
      if (!(await listOrganizations(db)).some(({ id }) => id === organization))
        throw new DatabaseError(`The organization ${organization} does not exist.`);
      const target = to === OWN ? null : (await find(to)).id;
      for (const environment of leavesOwn ? [] : environments) {
        const tenant = (await tenantOf(db, organization, environment === "live")) as number;
        const current = await readDatabaseOf(db, tenant);
        if (current !== null && current !== target && (await readDatasource(db, current))?.tenant === tenant)
          throw new DatabaseError(
            `The ${environment} tenant lives in a database that its owner has registered (${current}). With --yes the tenant leaves that database, and the datasource is deleted.`,
          );
      }
      const asked: number[] = [];
      for (const environment of environments) {
        const tenant = (await tenantOf(db, organization, environment === "live")) as number;
        const current = await readDatabaseOf(db, tenant);
        if (current === target) {
          const begun = await readMove(db, tenant);
          if (begun && begun.target !== target && !(await cancel(begun)))
            throw new DatabaseError(
              `The move of the ${environment} tenant to another database is nearly finished and cannot be canceled. Wait until it is finished, then move the tenant back.`,
            );
          continue;
        }
        const move = await ask(tenant, target);
        if (move && move.target !== target)
          throw new DatabaseError(
            `The ${environment} tenant is being moved to another database: try again when the move is finished.`,
          );
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
    verify: async () => await compareDirectory(await recovery()),
    async planRecovery(organization, environment, { to, empty }) {
      const deps = await recovery();
      const { places } = await compareDirectory(deps);
      const livemode = environment === "live";
      const tenant = (await listDirectory(db)).find(
        (one) => one.organization === organization && one.livemode === livemode,
      );
      if (!tenant) throw new DatabaseError(`The organization ${organization} does not exist.`);
      const chosen = places.find(({ name, also }) => [name, ...also.map((one) => one.name)].includes(to));
      if (!chosen) throw new DatabaseError(`There is no database ${to}: see holdfast databases verify.`);
      if (chosen.problem !== undefined) throw new DatabaseError(`${to} cannot be used: ${chosen.problem}`);
      const logs = logsOf(places, tenant);
      const kept = logs.find(({ place }) => place === chosen.name);
      if (!kept && logs.length > 0)
        throw new DatabaseError(
          `${to} has no log of the tenant. The databases that have its log: ${logs.map(({ place }) => place).join(", ")}.`,
        );
      if (!kept && !empty)
        throw new DatabaseError(
          "No database has a log of the tenant. Restore a backup of the database that had its log, or begin with an empty log: --empty.",
        );
      return {
        kept,
        // Also what another organization has left there under the tenant's number.
        lost: places.flatMap(({ name, logs: found }) =>
          found
            .filter((log) => log.tenant === tenant.id && (kept === undefined || name !== chosen.name))
            .map((log) => ({ ...log, place: name })),
        ),
        unknown: places.filter(({ problem, database }) => problem !== undefined && database === tenant.database),
        carryOut: async () => {
          if (chosen.database !== null) await prepareChosen(deps.service, chosen);
          await recoverTenant(deps, tenant, chosen, places).catch((error: unknown) => {
            throw error instanceof RecoveryError ? new DatabaseError(error.message) : error;
          });
        },
      };
    },
    underWay: (tenants) => readMoveError(db, tenants),
  };
}

/** One that was emptied needs its tables again. */
async function prepareChosen(service: Buffer, { url = "", address }: Place): Promise<void> {
  const deps = { service, mayReach: async () => true, guarded: () => url };
  const refused = address && (await prepareDatabase(deps)(address));
  if (refused) throw new DatabaseError(refused.message ?? refused.code);
}
