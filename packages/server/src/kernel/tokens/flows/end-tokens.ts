import { lockHead } from "../../commits/db/heads.ts";
import { type Transaction, transaction } from "../../connection/transaction.ts";
import type { DataOf } from "../../tenant-data.ts";
import { saveEndedTokens } from "../db/ended-tokens.ts";

/** What follows for modules if tokens end, now or after so many seconds: in the transaction that ends them. */
export type TokenFollowers = readonly ((
  tx: Transaction,
  tokenIds: readonly string[],
  graceSeconds: number,
) => Promise<void>)[];

/** Makes what follows from the end of tokens happen. */
export interface EndTokens {
  /** In the service's own database, which has the tokens: in the transaction that ends them, after that. */
  here(tx: Transaction, tokenIds: readonly string[], graceSeconds?: number): Promise<void>;
  /**
   * In the database of their tenant, if that is another one; between the two, the head's lock sees to it that nothing is
   * granted to a token that has ended. If that database is away, what it has of the token ends by itself, later.
   */
  elsewhere(
    of: { readonly tenant: number; readonly database: string | null },
    tokenIds: readonly string[],
    graceSeconds?: number,
  ): Promise<void>;
}

export function endTokens(followers: TokenFollowers, dataOf: DataOf, failed: (error: unknown) => void): EndTokens {
  async function here(tx: Transaction, tokenIds: readonly string[], graceSeconds = 0): Promise<void> {
    for (const then of followers) await then(tx, tokenIds, graceSeconds);
  }
  return {
    here,
    async elsewhere({ tenant, database }, tokenIds, graceSeconds = 0) {
      if (database === null || tokenIds.length === 0) return;
      try {
        const { pool } = await dataOf({ database });
        await transaction(pool, async (tx) => {
          await lockHead(tx, tenant);
          await saveEndedTokens(tx, tenant, tokenIds, graceSeconds);
          await here(tx, tokenIds, graceSeconds);
        });
      } catch (error) {
        failed(error);
      }
    },
  };
}
