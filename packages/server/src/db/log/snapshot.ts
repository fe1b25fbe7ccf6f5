import type { QueryResultRow } from "pg";
import type { Transaction } from "../connection/transaction.ts";
import { recordTable } from "../schema/rewritten-records.ts";
import { withinBytes } from "./within-bytes.ts";

export interface SnapshotQuestion {
  readonly tenant: number;
  /** Lower-case names; undefined: every model. */
  readonly models: readonly string[] | undefined;
  /** A push rewrites records of the tenant: the new form of some is beside their row. */
  readonly rewriting: boolean;
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
 *
 * Up to the first record that Postgres keeps compressed, sizes are read from the rows' headers in one go; from there on
 * records have to be unpacked to be measured, which only the second statement does.
 */
export async function readSnapshotPage(
  db: Transaction,
  question: SnapshotQuestion,
  names: ReadonlyMap<string, string>,
): Promise<SnapshotPage> {
  const plain = await readPage(db, plainPage(question), question, names);
  if (!plain.metCompressed) return plain;
  const used = Buffer.byteLength(plain.lines);
  const rest = await readPage(
    db,
    measuredPage(question),
    {
      ...question,
      after: plain.last ?? question.after,
      limit: question.limit - plain.count,
      bytes: question.bytes - used,
    },
    names,
  );
  // The first record of a page always fits, but only of a whole page.
  if (plain.count > 0 && Buffer.byteLength(rest.lines) > question.bytes - used) return plain;
  return {
    lines: plain.lines + rest.lines,
    count: plain.count + rest.count,
    last: rest.last ?? plain.last,
    hasMore: rest.hasMore,
  };
}

async function readPage(
  db: Transaction,
  statement: { readonly name: string; readonly text: string },
  question: SnapshotQuestion,
  names: ReadonlyMap<string, string>,
): Promise<SnapshotPage & { readonly metCompressed: boolean }> {
  const { rows } = await db.query<Page>({
    ...statement,
    values: [
      question.tenant,
      question.after?.model ?? "",
      question.after?.id ?? "",
      question.models ?? null,
      question.groups ?? null,
      question.limit,
      JSON.stringify(Object.fromEntries(names)),
      question.bytes,
    ],
  });
  const { lines: found, count = 0, seen = 0, measured = seen } = rows[0] ?? {};
  const lines = found ?? "";
  const metCompressed = count === measured && measured < seen;
  const hasMore = seen === question.limit || count < seen;
  return { lines, count, last: lastOf(lines), hasMore, metCompressed };
}

interface Page extends QueryResultRow {
  readonly lines: string | null;
  /** Records that were found, those of them before the first whose size is not known, and those that the lines tell of. */
  readonly seen: number;
  readonly measured?: number;
  readonly count: number;
}

/** Read from the text: to have Postgres collect models and ids for it costs a tenth of the page. */
function lastOf(lines: string): SnapshotPage["last"] {
  BEGINNING.lastIndex = lines.lastIndexOf("\n", lines.length - 2) + 1;
  const [, model, id] = BEGINNING.exec(lines) ?? [];
  return model === undefined || id === undefined
    ? undefined
    : { model: (JSON.parse(model) as string).toLowerCase(), id };
}

const BEGINNING = /\{"model":("(?:[^"\\]|\\.)*"),"id":"([^"]*)"/y;

const recordsOf = ({
  rewriting,
}: SnapshotQuestion) => `select model, id, sync_id, archived_at, data from ${recordTable(rewriting)}
  where tenant = $1 and (model, id) > ($2, $3) and ($4::text[] is null or model = any($4)) and ($5::text[] is null or groups && $5)
  order by model, id limit $6`;

/** What a line has around its record. */
const REST = "60 + case when archived_at is null then 0 else 45 end + octet_length(model) + octet_length(id)";

// The aggregates take the records in the order that they are read in: to sort them once more costs as much as all the rest.
const LINES = `string_agg('{"model":' || coalesce(($7::jsonb -> model)::text, to_json(model)::text) || ',"id":"' || id || '","syncId":' || sync_id
  || case when archived_at is null then '' else ',"archivedAt":"' || to_char(archived_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"' end
  || ',"data":' || data || E'}\\n', '')`;

const FITS = "compressed = 0 and (bytes_through <= $8::bigint or bytes_through = bytes)";

/** All that fits of the records before the first that is compressed. */
const plainPage = (question: SnapshotQuestion) => ({
  name: question.rewriting ? "read_snapshot_rewriting" : "read_snapshot",
  text: `select ${LINES} filter (where ${FITS}) as lines, count(*)::int as seen,
      count(*) filter (where compressed = 0)::int as measured, count(*) filter (where ${FITS})::int as count
    from (select *, sum(bytes) over through as bytes_through, count(compression) over through as compressed
      from (select *, pg_column_size(data) + ${REST} as bytes, pg_column_compression(data) as compression from (${recordsOf(question)}) counted) counted
      window through as (order by model, id rows unbounded preceding)) page`,
});

/** All that fits, compressed or not. */
const measuredPage = (question: SnapshotQuestion) => ({
  name: question.rewriting ? "read_snapshot_measured_rewriting" : "read_snapshot_measured",
  text: `select ${LINES} filter (where fits) as lines, count(*)::int as seen, count(*) filter (where fits)::int as count
    from (${withinBytes({ rows: recordsOf(question), order: "model, id", json: ["data"], rest: REST, bytes: "$8::bigint" })}) page`,
});
