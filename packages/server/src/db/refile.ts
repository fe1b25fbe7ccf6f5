import type { Model } from "@holdfast/sdk/protocol";
import { type Transaction, takeTime } from "./transaction.ts";

/** The white space of JavaScript's `\s`: what Postgres takes for it depends on its locale. */
const SPACES = "\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff";

/**
 * Files every record of a model under its groups anew, after the model's group rules changed. Their heads are set to
 * the head of the log: a premise on a group that was just made counts as moved, never as fresh.
 */
export async function refileRecords(tx: Transaction, world: number, key: string, model: Model): Promise<void> {
  const rules = model.groups ?? [];
  await takeTime(tx);
  await tx.query(
    `update holdfast.record r set groups = array(
       select distinct x.kind || ':' || x.value
       from (select rule.kind, case when rule.source = 'id' then r.id else r.data->>rule.source end as value
             from unnest($3::text[], $4::text[]) as rule(kind, source)) x
       where x.value ~ '^[^${SPACES}]{1,200}$' order by 1)
     where r.world = $1 and r.model = $2`,
    [world, key, rules.map(({ kind }) => kind), rules.map(({ from }) => from)],
  );
  await tx.query(
    `insert into holdfast.group_head (world, name, sync_id, writer, other_sync_id)
     select distinct $1::int, g.name, h.sync_id, null, h.sync_id from holdfast.record r
     cross join unnest(r.groups) as g(name) join holdfast.head h on h.world = r.world where r.world = $1 and r.model = $2
     on conflict (world, name) do update set sync_id = excluded.sync_id, writer = null, other_sync_id = excluded.other_sync_id`,
    [world, key],
  );
}
