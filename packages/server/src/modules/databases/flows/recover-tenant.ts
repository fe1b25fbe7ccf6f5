import { newId } from "../../../ids.ts";
import { type Connection, connectTo } from "../../../kernel/connection/connection.ts";
import { isEmptied } from "../../../kernel/connection/database-error.ts";
import { readOwner } from "../../../kernel/connection/database-owner.ts";
import { sentence } from "../../../kernel/connection/error-sentence.ts";
import { migrate } from "../../../kernel/connection/migrate.ts";
import { type Database, session } from "../../../kernel/connection/pool.ts";
import { transaction } from "../../../kernel/connection/transaction.ts";
import type { Encryption } from "../../../kernel/encryption.ts";
import { lockLogEpoch, readIdentity, readLogEpoch } from "../../../kernel/log/db/log-epoch.ts";
import { renewLogsOf } from "../../../kernel/log/flows/log-epoch.ts";
import { isRefusal } from "../../../kernel/refusal.ts";
import { listAllDatasources } from "../db/datasources.ts";
import { type ListedTenant, listDirectory, settleDatabase } from "../db/moves.ts";
import {
  closeHead,
  deleteArrival,
  type FoundLog,
  hasAttachedTables,
  insertHead,
  listLogs,
  lockMove,
  openHead,
  prepareTenant,
  readPlaces,
} from "../db/tenant-rows.ts";
import { type DatabaseAddress, readConnectionString } from "../rules/connection-string.ts";
import { judgePlaces, type PlaceFault } from "../rules/judge-places.ts";
import { blockedHost, type CheckDatabaseDeps } from "./check-database.ts";
import { deleteAll, longTransaction, withConnections } from "./move-connections.ts";

/**
 * One of several databases was restored from a backup, or is lost. Then the directory, which is in the service's own
 * database, may not agree with where the logs are:
 *
 *   own restored to before a move       own has an old log, the other database the newer one   "several"
 *   the other restored to before it     neither has one                                        "none"
 *   the other restored to after a way back   it has an old log                                 "several"
 *
 * Which log counts is for a person to say: both may have writes that the other lacks.
 */
export class RecoveryError extends Error {}

/** The service's own database, as the commands call it. */
export const OWN = "own";

/** A database, and the logs that it has. */
export interface Place {
  /** `own`, the operator's name, or the id of a datasource. */
  readonly name: string;
  readonly database: string | null;
  /** As it is connected to. */
  readonly url?: string;
  /** As it is registered. Undefined for the service's own. */
  readonly address?: DatabaseAddress;
  readonly logs: readonly FoundLog[];
  /** Undefined: it cannot be asked, or was emptied. */
  readonly identity: string | undefined;
  /** Other names of the same database: see readIdentity. */
  readonly also: readonly Pick<Place, "name" | "database">[];
  /** Why it cannot be asked. */
  readonly problem?: string;
}

/** A tenant whose log is not where the directory says, and the places that have one. */
export interface Misplaced {
  readonly tenant: ListedTenant;
  readonly expected: string;
  readonly fault: PlaceFault;
  readonly logs: readonly (FoundLog & { readonly place: string })[];
}

export interface Comparison {
  readonly places: readonly Place[];
  readonly misplaced: readonly Misplaced[];
  /** Logs of tenants that the directory does not know: it may be older than they are. */
  readonly unlisted: Misplaced["logs"];
}

export interface RecoveryDeps {
  /** The service's own database, and its address. */
  readonly db: Database;
  readonly url: string;
  readonly service: Buffer;
  readonly encryption: Encryption;
  /** How tenants' own databases are connected to. */
  readonly reach: Omit<CheckDatabaseDeps, "service">;
}

/** Compares the directory with all databases that it knows. */
export async function compareDirectory(deps: RecoveryDeps): Promise<Comparison> {
  const places = await readPlacesOfAll(deps);
  // Afterwards: a move that has begun meanwhile is none that goes wrong.
  const tenants = await listDirectory(deps.db);
  const nameOf = new Map(
    places.flatMap(({ database, name, also }) =>
      [database, ...also.map((one) => one.database)].map((each) => [each, name]),
    ),
  );
  const unknown = places.filter(({ problem }) => problem !== undefined).map(({ name }) => name);
  const misplaced = tenants.flatMap((tenant) => {
    const expected = nameOf.get(tenant.database) ?? OWN;
    const logs = logsOf(places, tenant);
    const fault = judgePlaces({ expected, logs: logs.map(({ place }) => place), unknown, moving: tenant.moving });
    return fault ? [{ tenant, expected, fault, logs }] : [];
  });
  const known = new Set(tenants.map(keyOf));
  const unlisted = places.flatMap(({ name, logs }) =>
    logs.filter((log) => !known.has(keyOf({ ...log, id: log.tenant }))).map((log) => ({ ...log, place: name })),
  );
  return { places, misplaced, unlisted };
}

const keyOf = ({ id, organization, livemode }: Pick<ListedTenant, "id" | "organization" | "livemode">): string =>
  `${id} ${organization} ${livemode}`;

/** A log under the tenant's number may be that of another organization, which a restored directory does not know. */
export const logsOf = (places: readonly Place[], { id, organization, livemode }: ListedTenant): Misplaced["logs"] =>
  places.flatMap(({ name, logs }) =>
    logs
      .filter((log) => log.tenant === id && log.organization === organization && log.livemode === livemode)
      .map((log) => ({ ...log, place: name })),
  );

/**
 * From now on the tenant lives in the chosen database, whose log gets a new id, so that clients read it again. What
 * other databases have of the tenant is deleted; those that cannot be asked keep it. If the chosen one has no log, an
 * empty one begins there.
 */
export async function recoverTenant(
  deps: RecoveryDeps,
  tenant: ListedTenant,
  chosen: Place,
  places: readonly Place[],
): Promise<void> {
  // Also what another organization has left there under the same number: no log of this tenant can come while it is there.
  const others = places.filter(
    ({ name, logs }) => name !== chosen.name && logs.some((log) => log.tenant === tenant.id),
  );
  const urls = [chosen, ...others].map(({ url = "" }) => url);
  const never = new AbortController().signal;
  for (const url of urls) await migrate(url);
  await withConnections(urls, never, async (opened) => {
    const [here, ...elsewhere] = opened;
    if (!here) return;
    for (const connection of opened)
      if (!(await lockMove(connection, tenant.id)))
        throw new RecoveryError("The tenant is being moved by a running server: try again.");
    for (const connection of elsewhere)
      if (await hasAttachedTables(connection, tenant.id))
        throw new RecoveryError(
          "The database that would lose its log has tables attached: detach them there first (holdfast tables detach).",
        );
    if (logsOf([chosen], tenant).length > 0) await openAgain(here, tenant);
    else await openEmpty(here, tenant, chosen);
    const isThere = [chosen, ...chosen.also].some(({ database }) => database === tenant.database);
    await transaction(deps.db, (tx) => settleDatabase(tx, tenant.id, isThere ? tenant.database : chosen.database));
    for (const connection of elsewhere) await deleteLog(connection, tenant);
  });
}

async function openAgain(connection: Connection, { id }: ListedTenant): Promise<void> {
  const { actual } = await readLogEpoch(connection);
  await longTransaction(connection, async (tx) => {
    await lockLogEpoch(tx);
    // It may have arrived, and not be open yet.
    if (!(await readPlaces(tx, id)).head) await openHead(tx, id);
    await renewLogsOf(tx, [id], actual);
  });
}

/** What is there under the tenant's number is another organization's, or left over. */
async function openEmpty(connection: Connection, tenant: ListedTenant, { database }: Place): Promise<void> {
  await deleteLog(connection, tenant);
  await longTransaction(connection, async (tx) => {
    if (database !== null) await prepareTenant(tx, { ...tenant, tenant: tenant.id });
    await insertHead(tx, tenant.id, newId("log_"));
  });
}

async function deleteLog(connection: Connection, { id }: ListedTenant): Promise<void> {
  await longTransaction(connection, async (tx) => {
    await closeHead(tx, id);
    await deleteArrival(tx, id);
  });
  await deleteAll(connection, id);
}

/** A database as one of its names leads to it. */
type Found = Omit<Place, "also">;

/** Each database once, under the first of its names. */
export async function readPlacesOfAll(deps: RecoveryDeps): Promise<Place[]> {
  const places: (Found & { also: Pick<Place, "name" | "database">[] })[] = [];
  for (const found of await readAllNames(deps)) {
    const same = places.find(({ identity }) => identity !== undefined && identity === found.identity);
    if (same) same.also.push({ name: found.name, database: found.database });
    else places.push({ ...found, also: [] });
  }
  return places;
}

async function readAllNames(deps: RecoveryDeps): Promise<Found[]> {
  const { db, url, encryption, reach } = deps;
  const own: Found = { name: OWN, database: null, url, logs: await listLogs(db), identity: await readIdentity(db) };
  const others = (await listAllDatasources(db)).map(async ({ id, tenant, displayName, connection }): Promise<Found> => {
    const named = { name: tenant === null ? (displayName ?? id) : id, database: id, identity: undefined };
    const text = encryption.decrypt(connection, id);
    const address = text === undefined ? undefined : readConnectionString(text);
    if (address === undefined || isRefusal(address))
      return {
        ...named,
        logs: [],
        problem: "Its connection string is encrypted with a master key that is not configured.",
      };
    if (tenant === null) return await readPlace(deps, { ...named, address, url: address.url });
    for (const host of address.hostNames)
      if (!(await reach.mayReach(host))) return { ...named, logs: [], problem: blockedHost(host) };
    return await readPlace(deps, { ...named, address, url: reach.guarded(address.url) });
  });
  return [own, ...(await Promise.all(others))];
}

async function readPlace(
  { service }: RecoveryDeps,
  named: Omit<Found, "logs"> & { readonly url: string },
): Promise<Found> {
  try {
    const client = await connectTo(named.url, session);
    try {
      if (!(await readOwner(client))?.equals(service)) return { ...named, logs: [] };
      return { ...named, logs: await listLogs(client), identity: await readIdentity(client) };
    } finally {
      await client.end();
    }
  } catch (error) {
    return isEmptied(error) ? { ...named, logs: [] } : { ...named, logs: [], problem: sentence(error) };
  }
}
