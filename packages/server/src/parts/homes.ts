import { migrate } from "../db/connection/migrate.ts";
import type { Database } from "../db/connection/pool.ts";
import { readOwner } from "../db/datasources/database-owner.ts";
import { readDatasource } from "../db/datasources/datasources.ts";
import { sentence } from "../flows/datasources/check-database.ts";
import { readConnectionString } from "../rules/datasources/connection-string.ts";
import { isRefusal } from "../rules/refusal.ts";
import type { ServerContext } from "./context.ts";
import { openDatabase } from "./database.ts";
import { createParts } from "./part.ts";
import { openPlane, type Plane } from "./plane.ts";

export interface HomesDeps {
  /** The service's own database, which knows all others. */
  readonly db: Database;
  readonly service: Buffer;
  mayReach(host: string): Promise<boolean>;
  /** The logs of a database were replaced. */
  replaced(home: string): void;
  readonly cacheBytes: number;
}

/** A database cannot be used now. Its tenants get 503: the code is like those of network errors. */
class HomeError extends Error {
  readonly code = "EHOME";
}

/** Finds the addresses of databases, and opens their planes. */
export function openHomes(ctx: ServerContext, deps: HomesDeps) {
  const { db, service, mayReach, replaced, cacheBytes } = deps;

  async function urlOf(home: string): Promise<string> {
    const found = await readDatasource(db, home);
    if (!found) throw new HomeError(`There is no datasource ${home}.`);
    const text = ctx.encryption.decrypt(found.connection, home);
    if (text === undefined)
      throw new HomeError("The connection string is encrypted with a master key that is not configured.");
    const address = readConnectionString(text);
    if (isRefusal(address)) throw new HomeError(`The connection string of ${home} cannot be read.`);
    // A name may lead elsewhere than when it was registered. The operator may name any.
    for (const host of found.tenant === null ? [] : address.hostNames)
      if (!(await mayReach(host))) throw new HomeError(`${host} leads to an address that is not public.`);
    return address.url;
  }

  return {
    urlOf,
    /** Whatever keeps a database from being used, its tenants get 503. */
    open: (home: string): Promise<Plane> =>
      openHome(home).catch((error: unknown) => {
        throw error instanceof HomeError ? error : new HomeError(sentence(error), { cause: error });
      }),
  };

  async function openHome(home: string): Promise<Plane> {
    const url = await urlOf(home);
    await migrate(url);
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
      const plane = opened(await openPlane(ctx, database, cacheBytes));
      return { ...plane, forget, stop, close };
    } catch (error) {
      await close();
      throw error;
    }
  }
}
