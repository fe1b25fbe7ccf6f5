import { type Connection, connectTo } from "../../../kernel/connection/connection.ts";
import {
  hasOrganizations,
  readDatabase,
  readOwner,
  readService,
  takeDatabase,
} from "../../../kernel/connection/database-owner.ts";
import { sentence } from "../../../kernel/connection/error-sentence.ts";
import { migrate, NewerDatabase } from "../../../kernel/connection/migrate.ts";
import { session } from "../../../kernel/connection/pool.ts";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import type { DatabaseAddress } from "../rules/connection-string.ts";

/** The oldest Postgres that has all that is used. */
const OLDEST = 150_000;

export interface CheckDatabaseDeps {
  /** The service that asks: see database-owner.ts. */
  readonly service: Buffer;
  /** Whether a host is one that the server may connect to. */
  mayReach(host: string): Promise<boolean>;
  /** The connection string as it is connected to. */
  readonly guarded: (url: string) => string;
}

/**
 * Whether tenants of this service can live in a database. Nothing is written to one that is refused. One that is
 * accepted gets the schema `holdfast`, and belongs to the service from then on.
 */
export type PrepareDatabase = (address: DatabaseAddress) => Promise<Refusal | undefined>;

export const prepareDatabase =
  ({ service, mayReach, guarded }: CheckDatabaseDeps): PrepareDatabase =>
  async ({ url: plain, hostNames }) => {
    const url = guarded(plain);
    const param = "connectionString";
    const no = (message: string) => refuse("datasource_unreachable", { param, message });
    const blocked = await checkReach(mayReach, hostNames);
    if (blocked) return blocked;
    try {
      const refused = await withConnection(url, (client) => check(client, service, url, no));
      if (refused) return refused;
    } catch (error) {
      if (error instanceof Unreachable) return no(`The database cannot be reached: ${error.message}`);
      return no(`The database refused: ${sentence(error)}`);
    }
    try {
      await migrate(url, { lifeMs: MIGRATION_MS });
      return await withConnection(url, async (client) => {
        // Two services may have come this far together: the first to take it has it.
        await takeDatabase(client, service);
        return (await readOwner(client))?.equals(service) ? undefined : refuse("datasource_in_use", { param });
      });
    } catch (error) {
      if (error instanceof NewerDatabase) return no("A newer release of Holdfast has changed this database.");
      return no(`The database refused: ${sentence(error)}`);
    }
  };

/** How long the questions to a database may take, with the connection, and how long its migration. */
const CHECK_MS = 15_000;
const MIGRATION_MS = 60_000;

class Unreachable extends Error {}

async function withConnection<T>(url: string, work: (client: Connection) => Promise<T>): Promise<T> {
  const client = await connectTo(url, { ...session, lifeMs: CHECK_MS }).catch((error: unknown) => {
    throw new Unreachable(`${sentence(error)}${adviceFor(error)}`);
  });
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export const blockedHost = (host: string): string =>
  `${host} leads to an address that is not public. The operator of the server can allow it: HOLDFAST_DATASOURCE_ALLOW_PRIVATE=1.`;

export async function checkReach(
  mayReach: CheckDatabaseDeps["mayReach"],
  hostNames: readonly string[],
): Promise<Refusal | undefined> {
  for (const host of hostNames)
    if (!(await mayReach(host)))
      return refuse("blocked_address", { param: "connectionString", message: blockedHost(host) });
  return undefined;
}

async function check(
  client: Connection,
  service: Buffer,
  url: string,
  no: (message: string) => Refusal,
): Promise<Refusal | undefined> {
  const found = await readDatabase(client);
  if (!found) return no("The server at this address is not Postgres: it returned no version.");
  const { versionNumber, takesWrites, mayCreate, isInstalled } = found;
  if (versionNumber < OLDEST)
    return no(`Postgres 15 or newer is needed (this is ${Math.floor(versionNumber / 10_000)}).`);
  if (!takesWrites) return no("The database takes no writes: it is a standby, or set to read only.");
  if (!isInstalled)
    return mayCreate
      ? await checkRoom(url, no)
      : no("The role may not create a schema: grant create on database … to it.");
  const owner = await readOwner(client);
  // Without an owner it may be the own database of a service, also of this one.
  const isFree = owner === undefined && !(await isOwnDatabase(client, service));
  // The service has connections to its own databases already.
  if (owner?.equals(service)) return undefined;
  return isFree ? await checkRoom(url, no) : refuse("datasource_in_use", { param: "connectionString" });
}

/** Ten of a process's pool, those that listen and commit, and one of a move. */
const NEEDED_CONNECTIONS = 15;

/** With fewer, the tenant's requests would fail again and again, and its data could not be moved away. */
async function checkRoom(url: string, no: (message: string) => Refusal): Promise<Refusal | undefined> {
  const opening = Array.from({ length: NEEDED_CONNECTIONS - 1 }, () =>
    connectTo(url, { ...session, lifeMs: CHECK_MS }),
  );
  const opened = await Promise.allSettled(opening);
  await Promise.all(opened.map(async (one) => one.status === "fulfilled" && (await one.value.end())));
  const failed = opened.find((one) => one.status === "rejected");
  return (
    failed &&
    no(
      `The database has to accept ${NEEDED_CONNECTIONS} connections of the role for each process of the service: ${sentence(failed.reason)}`,
    )
  );
}

const isOwnDatabase = async (client: Connection, service: Buffer): Promise<boolean> =>
  (await hasOrganizations(client)) || (await readService(client))?.equals(service) === true;

/** What the caller can change. */
function adviceFor(error: unknown): string {
  const { code = "", message = "" } = error as { code?: string; message?: string };
  if (/does not support SSL/.test(message))
    return " Turn on TLS in the database, or add ?sslmode=disable, which sends everything unencrypted.";
  if (/client password must be a(?: non-empty)? string/.test(message))
    return " The database asks for a password: write it into the connection string, like postgres://user:password@host/database.";
  if (!/CERT|SIGNATURE|ISSUER/.test(code)) return "";
  return " The database needs a certificate of a public authority for this host; ?sslmode=no-verify encrypts without verifying the server.";
}
