/** SQL expressions. */
export interface RecordEntriesSql {
  readonly tenant: string;
  readonly model: string;
  readonly id: string;
  /** Whether a position is in the requested range. */
  within(position: string): string;
  readonly order: "asc" | "desc";
  readonly limit: string;
  /** A condition on the entries `l`. */
  readonly filter?: string;
}

/**
 * Selects the entries of one record, in order. Entries that created a record are in no index, which makes creates
 * cheaper: the record has the position of its latest create, and each deletion has the position of the create before
 * it. All three branches probe an index in the requested order, so each stops at the limit.
 */
export function recordEntries({ tenant, model, id, within, order, limit, filter = "true" }: RecordEntriesSql): string {
  const named = (table: string) => `${table}.tenant = ${tenant} and ${table}.model = ${model} and ${table}.id = ${id}`;
  // A record of an attached table may have been there before the log: then that position is another record's.
  const madeAt = (position: string) => `${named("l")} and l.sync_id = ${position} and ${filter} limit 1`;
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
