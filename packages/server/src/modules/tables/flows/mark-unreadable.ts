import { lockHead } from "../../../kernel/commits/db/heads.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import { transaction } from "../../../kernel/connection/transaction.ts";
import { insertSchema, readSchema } from "../../../kernel/schema/db/model-schemas.ts";

/**
 * Notes which models of a tenant have tables that cannot be read. If others could not be read before, all clients of the
 * tenant read again: snapshots leave out what cannot be read.
 */
export const markUnreadable = (pool: Database, tenant: number, unreadable: readonly string[]): Promise<void> =>
  transaction(pool, async (tx) => {
    const { schemaVersion } = await lockHead(tx, tenant);
    const schema = await readSchema(tx, tenant, schemaVersion);
    if (!schema || schema.unreadable.join() === unreadable.join()) return;
    const version = schemaVersion + 1;
    await insertSchema(tx, tenant, { ...schema, version, rowsVersion: version, unreadable });
  });
