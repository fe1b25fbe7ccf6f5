import type { QueryResultRow } from "pg";
import type { Transaction } from "./transaction.ts";
import { withinBytes } from "./within-bytes.ts";

export interface SnapshotQuestion {
  readonly world: number;
  /** Lower-case names; undefined: every model. */
  readonly models: readonly string[] | undefined;
  /** Records in one of these groups; undefined: all. */
  readonly groups: readonly string[] | undefined;
  readonly after: { readonly model: string; readonly id: string } | undefined;
  readonly limit: number;
  /** Of all lines together, unless one alone has more. */
  readonly bytes: number;
}

export interface SnapshotPage {
  /** Lines of JSON, each with its end of line. */
  readonly lines: string;
  readonly count: number;
  readonly last: { readonly model: string; readonly id: string } | undefined;
  /** Whether there may be records behind the last one. */
  readonly hasMore: boolean;
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
  const { rows } = await db.query<Page>({
    name: "read_snapshot",
    // The aggregates take the records in the order that they are read in: to sort them once more costs as much as all the rest.
    text: `select string_agg('{"model":' || coalesce(($7::jsonb -> model)::text, to_json(model)::text) || ',"id":"' || id || '","syncId":' || sync_id
          || case when archived_at is null then '' else ',"archivedAt":"' || to_char(archived_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"' end
          || ',"data":' || data || E'}\\n', '') filter (where fits) as lines,
        count(*)::int as seen, count(*) filter (where fits)::int as count,
        (array_agg(model) filter (where fits))[count(*) filter (where fits)] as model,
        (array_agg(id) filter (where fits))[count(*) filter (where fits)] as id
      from (${withinBytes({ rows: RECORDS, order: "model, id", json: ["data"], rest: "100 + octet_length(model) + octet_length(id)", bytes: "$8::bigint" })}) as page`,
    values: [
      question.world,
      question.after?.model ?? "",
      question.after?.id ?? "",
      question.models ?? null,
      question.groups ?? null,
      question.limit,
      JSON.stringify(Object.fromEntries(names)),
      question.bytes,
    ],
  });
  const { lines, count = 0, seen = 0, model, id } = rows[0] ?? {};
  const last = model == null || id == null ? undefined : { model, id };
  return { lines: lines ?? "", count, last, hasMore: last !== undefined && (seen === question.limit || count < seen) };
}

interface Page extends QueryResultRow {
  readonly lines: string | null;
  /** Records that were found, and those that the lines tell of. */
  readonly seen: number;
  readonly count: number;
  readonly model: string | null;
  readonly id: string | null;
}

const RECORDS = `select model, id, sync_id, archived_at, data from holdfast.record
  where world = $1 and (model, id) > ($2, $3) and ($4::text[] is null or model = any($4)) and ($5::text[] is null or groups && $5)
  order by model, id limit $6`;
