import { revokeClaims } from "../../db/claims/claims.ts";
import { lockHead } from "../../db/commits/heads.ts";
import { transaction } from "../../db/connection/transaction.ts";
import { saveEndedTokens } from "../../db/tokens/ended-tokens.ts";
import type { DataOf } from "../tenant-data.ts";

/** Ends the claims of tokens that have ended, in the database of their tenant. */
export type EndClaims = (
  of: { readonly tenant: number; readonly home: string | null },
  tokenIds: readonly string[],
  graceSeconds?: number,
) => Promise<void>;

/**
 * For a tenant in a database of its own. The service's own database, which has the tokens, ends claims in the
 * transaction that ends the token; between two databases, the head's lock sees to it that no claim is granted to a
 * token that has ended. If that database is away, its claims end with their leases.
 */
export const endClaims =
  (dataOf: DataOf, failed: (error: unknown) => void): EndClaims =>
  async ({ tenant, home }, tokenIds, graceSeconds = 0) => {
    if (home === null || tokenIds.length === 0) return;
    try {
      const { pool } = await dataOf({ home });
      await transaction(pool, async (tx) => {
        await lockHead(tx, tenant);
        await saveEndedTokens(tx, tenant, tokenIds, graceSeconds);
        await revokeClaims(tx, tokenIds, graceSeconds);
      });
    } catch (error) {
      failed(error);
    }
  };
