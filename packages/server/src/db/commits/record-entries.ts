/** Expressions of SQL. */
export interface RecordEntriesSql {
  readonly tenant: string;
  readonly model: string;
  readonly id: string;
  /** Whether a position is among those asked for. */
  within(position: string): string;
  readonly order: "asc" | "desc";
  readonly limit: string;
  /** Which lines `l` are wanted. */
  readonly filter?: string;
}

/**
 * The lines of one record, in order. Those that made it stand in no index, so that making costs less: the record says
 * where the last of them is, and each deletion where the one before it was. All three ways are probes of an index in the
 * order asked for, so that each ends where the limit does.
 */
export function recordEntries({ tenant, model, id, within, order, limit, filter = "true" }: RecordEntriesSql): string {
  const named = (table: string) => `${table}.tenant = ${tenant} and ${table}.model = ${model} and ${table}.id = ${id}`;
  const madeAt = (position: string) => `l.tenant = ${tenant} and l.sync_id = ${position} and ${filter} limit 1`;
  return `select * from (
    (select l.* from holdfast.log l
      where ${named("l")} and l.verb <> 'created' and ${within("l.sync_id")} and ${filter} order by l.sync_id ${order} limit ${limit})
    union all
    (select l.* from holdfast.log e cross join lateral (select l.* from holdfast.log l where ${madeAt("e.created_sync_id")}) l
      where ${named("e")} and e.created_sync_id is not null and ${within("e.created_sync_id")} order by e.created_sync_id ${order} limit ${limit})
    union all
    (select l.* from holdfast.record r cross join lateral (select l.* from holdfast.log l where ${madeAt("r.created_sync_id")}) l
      where ${named("r")} and ${within("r.created_sync_id")})
  ) l order by sync_id ${order} limit ${limit}`;
}
