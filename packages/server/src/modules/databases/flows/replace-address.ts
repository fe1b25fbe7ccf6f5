import { connectTo } from "../../../kernel/connection/connection.ts";
import { isEmptied } from "../../../kernel/connection/database-error.ts";
import { readOwner } from "../../../kernel/connection/database-owner.ts";
import { session } from "../../../kernel/connection/pool.ts";
import { readIdentity } from "../../../kernel/log/db/log-epoch.ts";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import { listLogs } from "../db/tenant-rows.ts";
import type { DatabaseAddress } from "../rules/connection-string.ts";
import { type CheckDatabaseDeps, checkReach } from "./check-database.ts";

/** A database as it is registered. `url` is undefined if the master key of its connection string is lost. */
export interface RegisteredDatabase {
  readonly host: string;
  readonly database: string;
  readonly url: string | undefined;
  /** Whose logs it has to have. */
  readonly tenants: readonly number[];
}

/**
 * Whether an address may replace another one: it is the same, or leads to the same database by another name, or to a
 * restored copy while the original is away. Two that take writes would lose those of one.
 */
export async function checkReplacement(
  { service, mayReach, guarded }: CheckDatabaseDeps,
  { host, database, url, tenants }: RegisteredDatabase,
  next: DatabaseAddress,
): Promise<Refusal | undefined> {
  const blocked = await checkReach(mayReach, next.hostNames);
  if (blocked) return blocked;
  if (next.host === host && next.database === database) return undefined;
  const no = (message: string) => refuse("invalid_url", { param: "connectionString", message });
  const there = await identify(guarded(next.url), service, tenants);
  if (!there)
    return no(
      `The connection string must lead to the same database, ${host}/${database}, or to a copy of it that has the ${tenants.length > 1 ? `logs of its ${tenants.length} tenants` : "tenant's log"}.`,
    );
  const before = url === undefined ? undefined : await identify(guarded(url), service, tenants);
  if (before === undefined || before === there) return undefined;
  return no(`${host}/${database} still answers: stop it first, so that nothing is written there any more.`);
}

/** Undefined: it does not answer, or has no such log of this service. */
async function identify(url: string, service: Buffer, tenants: readonly number[]): Promise<string | undefined> {
  const client = await connectTo(url, session).catch(() => undefined);
  if (!client) return undefined;
  try {
    if (!(await readOwner(client))?.equals(service)) return undefined;
    const logs = await listLogs(client);
    if (tenants.some((tenant) => !logs.some((log) => log.tenant === tenant))) return undefined;
    return await readIdentity(client);
  } catch (error) {
    if (isEmptied(error)) return undefined;
    throw error;
  } finally {
    await client.end();
  }
}
