import { createHash } from "node:crypto";
import { AwayError } from "../../../kernel/away-error.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import type { Encryption } from "../../../kernel/encryption.ts";
import { isRefusal } from "../../../kernel/refusal.ts";
import type { Directory } from "../../../kernel/tenant-data.ts";
import { listAllDatasources, readDatasource } from "../db/datasources.ts";
import { readConnectionString } from "../rules/connection-string.ts";
import { blockedHost, type CheckDatabaseDeps } from "./check-database.ts";

/** As Postgres computes it in `listUsedDatabases`. */
const fingerprint = (connection: Buffer): string => createHash("sha256").update(connection).digest("hex");

/** Finds the addresses of databases. `db`: the service's own database, which knows all others. */
export const openDirectory = (
  db: Database,
  { decrypt }: Encryption,
  { mayReach, guarded }: Omit<CheckDatabaseDeps, "service">,
): Directory => ({
  async addressOf(id) {
    const found = await readDatasource(db, id);
    if (!found) throw new AwayError(`There is no datasource ${id}.`);
    const { tenant, connection, displayName } = found;
    const text = decrypt(connection, id);
    if (text === undefined)
      throw new AwayError(
        `The connection string is encrypted with a master key that is not configured: enter it again with ${
          tenant === null ? `holdfast databases set ${displayName}` : "rotate_key"
        }.`,
      );
    const read = readConnectionString(text);
    if (isRefusal(read)) throw new AwayError(`The connection string of ${id} cannot be read.`);
    // A name may lead elsewhere than when it was registered. The operator may name any.
    for (const host of tenant === null ? [] : read.hostNames)
      if (!(await mayReach(host))) throw new AwayError(blockedHost(host));
    return { url: tenant === null ? read.url : guarded(read.url), address: fingerprint(connection) };
  },
  hosts: async () => new Map((await listAllDatasources(db)).map(({ id, host }) => [id, host])),
});
