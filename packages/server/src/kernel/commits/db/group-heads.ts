import type { Statement } from "../../connection/statement.ts";
import type { GroupHead } from "../rules/tenant-state.ts";

export interface GroupName {
  readonly tenant: number;
  readonly name: string;
}

/**
 * The newest entries of the groups that `reads` name. After a change of the group rules, every group of the tenant
 * counts as moved.
 */
export const loadGroupHeads = (groups: readonly GroupName[]): Statement<(GroupHead & GroupName)[]> => ({
  name: "load_group_heads",
  text: `select k.tenant, k.name, greatest(g.sync_id, h.regrouped_at) as "syncId",
      case when g.sync_id > h.regrouped_at then g.writer end as writer, greatest(g.other_sync_id, h.regrouped_at) as "otherSyncId"
    from unnest($1::int[], $2::text[]) as k(tenant, name)
    cross join lateral (select regrouped_at from holdfast.head h where h.tenant = k.tenant limit 1) h
    left join lateral (select sync_id, writer, other_sync_id from holdfast.group_head g
      where g.tenant = k.tenant and g.name = k.name limit 1) g on true
    where g.sync_id is not null or h.regrouped_at > 0`,
  values: [groups.map(({ tenant }) => tenant), groups.map(({ name }) => name)],
  read: (rows) => rows as (GroupHead & GroupName)[],
});
