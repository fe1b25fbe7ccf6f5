import { createHash } from "node:crypto";
import { hasHead } from "../db/commits/heads.ts";
import { isBounded } from "../db/connection/answer-bound.ts";
import { isEmptied } from "../db/connection/database-error.ts";
import { migrate } from "../db/connection/migrate.ts";
import type { Database } from "../db/connection/pool.ts";
import { readOwner } from "../db/datasources/database-owner.ts";
import { readDatasource } from "../db/datasources/datasources.ts";
import { blockedHost, type CheckDatabaseDeps, sentence } from "../flows/datasources/check-database.ts";
import { readConnectionString } from "../rules/datasources/connection-string.ts";
import { isRefusal } from "../rules/refusal.ts";
import type { ServerContext } from "./context.ts";
import { openDatabase } from "./database.ts";
import type { Module } from "./module.ts";
import { createParts } from "./part.ts";
import { openPlane, type Plane } from "./plane.ts";

export interface HomesDeps {
  /** The service's own database, which knows all others. */
  readonly db: Database;
  readonly service: Buffer;
  readonly reach: Omit<CheckDatabaseDeps, "service">;
  /** The logs of a database were replaced. */
  replaced(home: string): void;
  readonly cacheBytes: number;
  readonly modules: readonly Module[];
}

/** A database cannot be used now. Its tenants get 503: the code is like those of network errors. */
class HomeError extends Error {
  readonly code = "EHOME";
}

/** The plane of a database beside the service's own. */
export interface HomePlane extends Plane {
  /** As `UsedHome` has it. */
  readonly address: string;
  /** Rejects with a sentence if the database cannot be used, or lacks the log of the tenant whose only home it is. */
  check(lodger: number | undefined): Promise<void>;
}

const EMPTIED = "The tables of Holdfast are gone from the database: it was emptied, or a backup is being loaded.";
const NO_LOG =
  "The database has no log of the tenant: it was emptied, or restored from a backup of before the tenant moved there. Restore a newer one; else the operator mends it (holdfast databases verify).";

/** A new release may build indexes of large tables. */
const MIGRATION_MS = 3_600_000;

/** As Postgres computes it in `listHomes`. */
const fingerprint = (connection: Buffer): string => createHash("sha256").update(connection).digest("hex");

/** Finds the addresses of databases, and opens their planes. */
export function openHomes(ctx: ServerContext, deps: HomesDeps) {
  const { db, service, reach, replaced, cacheBytes, modules } = deps;

  const urlOf = async (home: string): Promise<string> => (await addressOf(home)).url;

  async function addressOf(home: string): Promise<{ url: string; address: string }> {
    const found = await readDatasource(db, home);
    if (!found) throw new HomeError(`There is no datasource ${home}.`);
    const text = ctx.encryption.decrypt(found.connection, home);
    if (text === undefined)
      throw new HomeError(
        `The connection string is encrypted with a master key that is not configured: enter it again with ${
          found.tenant === null ? `holdfast databases set ${found.displayName}` : "rotate_key"
        }.`,
      );
    const read = readConnectionString(text);
    if (isRefusal(read)) throw new HomeError(`The connection string of ${home} cannot be read.`);
    // A name may lead elsewhere than when it was registered. The operator may name any.
    for (const host of found.tenant === null ? [] : read.hostNames)
      if (!(await reach.mayReach(host))) throw new HomeError(blockedHost(host));
    const url = found.tenant === null ? read.url : reach.guarded(read.url);
    return { url, address: fingerprint(found.connection) };
  }

  return {
    urlOf,
    /** Whatever keeps a database from being used, its tenants get 503. */
    open: (home: string): Promise<HomePlane> =>
      openHome(home).catch((error: unknown) => {
        throw error instanceof HomeError ? error : new HomeError(sentence(error), { cause: error });
      }),
  };

  async function openHome(home: string): Promise<HomePlane> {
    const { url, address } = await addressOf(home);
    await migrate(url, isBounded(url) ? { lifeMs: MIGRATION_MS } : {});
    const { opened, forget, stop, close } = createParts();
    const database = opened(
      openDatabase({
        ...{ url, settings: ctx.database, logger: ctx.logger, report: ctx.report },
        replaced() {
          forget();
          replaced(home);
        },
      }),
    );
    try {
      if (!(await readOwner(database.pool))?.equals(service))
        throw new HomeError(`The database of ${home} belongs to another service, or was emptied.`);
      const plane = opened(await openPlane(ctx, database, cacheBytes, modules));
      const check: HomePlane["check"] = async (lodger) => {
        try {
          await database.check();
          if (lodger !== undefined && !(await hasHead(database.pool, lodger))) throw new HomeError(NO_LOG);
        } catch (error) {
          throw isEmptied(error) ? new HomeError(EMPTIED) : error;
        }
      };
      return { ...plane, address, check, forget, stop, close };
    } catch (error) {
      await close();
      throw error;
    }
  }
}
