import type { Usage } from "@holdfast/sdk/protocol";
import type { Transaction } from "../../connection/transaction.ts";
import { PRUNE_STEP } from "../../log/db/prune.ts";
import type { UsagePeriod } from "../rules/usage-period.ts";

/** An increment of one event's count, for one tenant and UTC day. */
export interface UsageCount {
  readonly tenant: number;
  readonly day: string;
  readonly eventName: string;
  readonly count: number;
}

/** Adds counts, in a fixed order, so that two processes cannot deadlock. */
export async function addUsage(db: Transaction, counts: readonly UsageCount[]): Promise<void> {
  await db.query({
    name: "add_usage",
    text: `insert into holdfast.usage as u (tenant, day, event_name, count)
      select * from unnest($1::int[], $2::date[], $3::text[], $4::bigint[]) as c(tenant, day, event_name, count) order by 1, 2, 3
      on conflict (tenant, day, event_name) do update set count = u.count + excluded.count`,
    values: [
      counts.map(({ tenant }) => tenant),
      counts.map(({ day }) => day),
      counts.map(({ eventName }) => eventName),
      counts.map(({ count }) => count),
    ],
  });
}

/** A tenant's usage in a period, by day and event. */
export async function readUsage(db: Transaction, tenant: number, { from, to }: UsagePeriod): Promise<Usage[]> {
  const { rows } = await db.query<Usage & Record<string, unknown>>({
    name: "read_usage",
    text: `select day::text as day, event_name, count from holdfast.usage
      where tenant = $1 and day between $2::date and $3::date order by usage.day, event_name`,
    values: [tenant, from, to],
  });
  return rows;
}

/** Deletes some expired counts. Returns how many. */
export async function deleteOldUsage(tx: Transaction, days: number): Promise<number> {
  const { rowCount } = await tx.query(
    `delete from holdfast.usage where ctid = any(array(
       select ctid from holdfast.usage where day < (clock_timestamp() at time zone 'UTC')::date - $1::int limit $2))`,
    [days, PRUNE_STEP],
  );
  return rowCount ?? 0;
}
