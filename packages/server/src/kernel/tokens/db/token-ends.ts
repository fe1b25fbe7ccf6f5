import type { Transaction } from "../../connection/transaction.ts";

export interface TokenEnds {
  /** The database's clock, as text to pass to the next call. */
  readonly now: string;
  /** Keys and tokens that were revoked, or whose grace period ended, since the last call. */
  readonly ids: readonly string[];
}

/**
 * `since`: the clock from the last call. Undefined: a fixed time ago. The last `overlapSeconds` before it are reported
 * again.
 */
export async function readTokenEnds(
  db: Transaction,
  since: string | undefined,
  overlapSeconds: number,
): Promise<TokenEnds> {
  const { rows } = await db.query<{ now: string; ids: string[] }>({
    name: "read_token_ends",
    text: `with span as (
        select now() as until, coalesce($1::timestamptz, now()) - make_interval(secs => $2) as since)
      select now()::text as now, array(
        select id from holdfast.secret_key, span where revoked_at > since and revoked_at <= until
        union all
        select id from holdfast.scoped_token, span where revoked_at > since and revoked_at <= until) as ids`,
    values: [since ?? null, overlapSeconds],
  });
  return rows[0] as { now: string; ids: string[] };
}
