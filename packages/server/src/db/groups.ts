import type { GroupHead } from "../rules/world-state.ts";
import type { Statement } from "./statement.ts";

export interface GroupName {
  readonly world: number;
  readonly name: string;
}

/** The newest entries of the groups that `reads` ask about. */
export const loadGroupHeads = (groups: readonly GroupName[]): Statement<(GroupHead & GroupName)[]> => ({
  name: "load_group_heads",
  text: `select g.* from unnest($1::int[], $2::text[]) as k(world, name)
    cross join lateral (select world, name, sync_id as "syncId", writer, other_sync_id as "otherSyncId" from holdfast.group_head g
      where g.world = k.world and g.name = k.name limit 1) g`,
  values: [groups.map(({ world }) => world), groups.map(({ name }) => name)],
  read: (rows) => rows as (GroupHead & GroupName)[],
});
