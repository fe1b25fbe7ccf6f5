import { isDeepStrictEqual } from "node:util";
import { lockHead } from "../../../kernel/commits/db/heads.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import { transaction } from "../../../kernel/connection/transaction.ts";
import { readCatalogFacts, type TableWithFacts, updateFacts } from "../db/attachments.ts";
import { catalogChange, rememberedFacts } from "../rules/catalog-facts.ts";
import { tellToReadAgain } from "./tell-to-read-again.ts";

/**
 * Looks for what changes the values of attached tables without writing a row: a label of an enum, a column's type or
 * expression, a partition, a disabled trigger. Clients read the rows again, and `tables verify` says what may be missed.
 */
export async function followCatalog(db: Database, only: number | null = null): Promise<void> {
  const tenants = new Set((await readCatalogFacts(db, only)).filter(isNews).map(({ tenant }) => tenant));
  for (const tenant of tenants)
    await transaction(db, async (tx) => {
      // Another process may have seen the same: under the lock, only one acts.
      const { schemaVersion } = await lockHead(tx, tenant);
      let readsAgain = false;
      for (const { model, name, before, now } of (await readCatalogFacts(tx, tenant)).filter(isNews)) {
        const change = before && catalogChange(name, before, now);
        await updateFacts(tx, { tenant, model }, rememberedFacts(before, now), change?.missed);
        readsAgain ||= change?.values === true;
      }
      if (readsAgain) await tellToReadAgain(tx, tenant, schemaVersion);
    });
}

const isNews = ({ before, now }: TableWithFacts): boolean =>
  before === null || !isDeepStrictEqual(before, rememberedFacts(before, now));
