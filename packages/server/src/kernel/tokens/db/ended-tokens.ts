import type { Transaction } from "../../connection/transaction.ts";

/** Notes tokens that ended, in a database that has claims and no tokens. */
export async function saveEndedTokens(
  tx: Transaction,
  tenant: number,
  ids: readonly string[],
  graceSeconds: number,
): Promise<void> {
  await tx.query(
    `insert into holdfast.ended_token as e (id, tenant, ended_at) select id, $2, clock_timestamp() + make_interval(secs => $3) from unnest($1::text[]) as t(id)
     on conflict (id) do update set ended_at = least(e.ended_at, excluded.ended_at)`,
    [ids, tenant, graceSeconds],
  );
}
