import { AwayError } from "../kernel/away-error.ts";
import { hasHead } from "../kernel/commits/db/heads.ts";
import { isBounded } from "../kernel/connection/answer-bound.ts";
import { isEmptied } from "../kernel/connection/database-error.ts";
import { readOwner } from "../kernel/connection/database-owner.ts";
import { sentence } from "../kernel/connection/error-sentence.ts";
import { migrate } from "../kernel/connection/migrate.ts";
import { createParts } from "../kernel/part.ts";
import type { Directory } from "../kernel/tenant-data.ts";
import type { Module } from "../modules/module.ts";
import { openConnections } from "./connections.ts";
import type { ServerContext } from "./context.ts";
import { openTenantDatabase, type TenantDatabase } from "./tenant-database.ts";

export interface OtherDatabasesDeps {
  readonly directory: Directory;
  /** The service that the databases have to belong to. */
  readonly service: Buffer;
  /** The logs of a database were replaced. */
  replaced(id: string): void;
  readonly cacheBytes: number;
  readonly modules: readonly Module[];
}

/** A database beside the service's own. */
export interface OtherDatabase extends TenantDatabase {
  /** As `UsedDatabase` has it. */
  readonly address: string;
  /** Rejects with a sentence if the database cannot be used, or lacks the log of the only tenant that is there. */
  check(onlyTenant: number | undefined): Promise<void>;
}

const EMPTIED = "The tables of Holdfast are gone from the database: it was emptied, or a backup is being loaded.";
const NO_LOG =
  "The database has no log of the tenant: it was emptied, or restored from a backup that is older than the tenant's move. Restore a newer backup, or ask the operator to repair it (holdfast databases verify).";

/** A new release may build indexes of large tables. */
const MIGRATION_MS = 3_600_000;

/** Opens databases that the directory knows. Whatever keeps one from being used, its tenants get 503. */
export function openOtherDatabases(
  ctx: ServerContext,
  { directory, service, replaced, cacheBytes, modules }: OtherDatabasesDeps,
): (id: string) => Promise<OtherDatabase> {
  return (id) =>
    openOne(id).catch((error: unknown) => {
      throw error instanceof AwayError ? error : new AwayError(sentence(error), { cause: error });
    });

  async function openOne(id: string): Promise<OtherDatabase> {
    const { url, address } = await directory.addressOf(id);
    await migrate(url, isBounded(url) ? { lifeMs: MIGRATION_MS } : {});
    const { opened, forget, stop, close } = createParts();
    const connections = opened(
      openConnections({
        ...{ url, settings: ctx.database, logger: ctx.logger, report: ctx.report },
        replaced() {
          forget();
          replaced(id);
        },
      }),
    );
    try {
      if (!(await readOwner(connections.pool))?.equals(service))
        throw new AwayError(`The database of ${id} belongs to another service, or was emptied.`);
      const database = opened(await openTenantDatabase(ctx, connections, cacheBytes, modules));
      const check: OtherDatabase["check"] = async (onlyTenant) => {
        try {
          await connections.check();
          if (onlyTenant !== undefined && !(await hasHead(connections.pool, onlyTenant))) throw new AwayError(NO_LOG);
        } catch (error) {
          throw isEmptied(error) ? new AwayError(EMPTIED) : error;
        }
      };
      return { ...database, address, check, forget, stop, close };
    } catch (error) {
      await close();
      throw error;
    }
  }
}
