import type { Transaction } from "./transaction.ts";

export interface SnapshotQuestion {
  readonly world: number;
  /** Lower-case names; undefined: every model. */
  readonly models: readonly string[] | undefined;
  /** Records in one of these groups; undefined: all. */
  readonly groups: readonly string[] | undefined;
  readonly after: { readonly model: string; readonly id: string } | undefined;
  readonly limit: number;
}

export interface SnapshotPage {
  /** Lines of JSON, each with its end of line. */
  readonly lines: string;
  readonly count: number;
  readonly last: { readonly model: string; readonly id: string } | undefined;
}

/**
 * One page in (model, id) order. Postgres writes the lines and hands them over in one piece: the server's one thread
 * copies bytes instead of taking rows apart. `names` are the declared names by lower-case name.
 */
export async function readSnapshotPage(
  db: Transaction,
  question: SnapshotQuestion,
  names: ReadonlyMap<string, string>,
): Promise<SnapshotPage> {
  const { rows } = await db.query<{ lines: string | null; count: number; model: string | null; id: string | null }>({
    name: "read_snapshot",
    // The aggregates take the records in the order that they are read in: to sort them once more costs as much as all the rest.
    text: `select string_agg('{"model":' || coalesce(($7::jsonb -> model)::text, to_json(model)::text) || ',"id":"' || id || '","syncId":' || sync_id
          || case when archived_at is null then '' else ',"archivedAt":"' || to_char(archived_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"' end
          || ',"data":' || data || E'}\\n', '') as lines,
        count(*)::int as count, (array_agg(model))[count(*)] as model, (array_agg(id))[count(*)] as id
      from (select model, id, sync_id, archived_at, data from holdfast.record
        where world = $1 and (model, id) > ($2, $3) and ($4::text[] is null or model = any($4)) and ($5::text[] is null or groups && $5)
        order by model, id limit $6) as page`,
    values: [
      question.world,
      question.after?.model ?? "",
      question.after?.id ?? "",
      question.models ?? null,
      question.groups ?? null,
      question.limit,
      JSON.stringify(Object.fromEntries(names)),
    ],
  });
  const row = rows[0];
  return {
    lines: row?.lines ?? "",
    count: row?.count ?? 0,
    last: row?.model == null || row.id == null ? undefined : { model: row.model, id: row.id },
  };
}
