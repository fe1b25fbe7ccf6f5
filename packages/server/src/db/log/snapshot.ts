import type { QueryResultRow } from "pg";
import type { ListFilter } from "../../rules/lists/list-filter.ts";
import type { Transaction } from "../connection/transaction.ts";
import { filterSql, type Param } from "../lists/list-records.ts";
import { recordTable } from "../schema/rewritten-records.ts";
import { withinBytes } from "./within-bytes.ts";

export interface SnapshotQuestion {
  readonly tenant: number;
  /** Lower-case names of the models that are read whole. Undefined: every model. */
  readonly models: readonly string[] | undefined;
  /** Those of which only some records are read: each that meets all filters of one of the alternatives. */
  readonly parts: readonly SnapshotPart[];
  /** A push is rewriting the tenant's records: some have their new form beside their row. */
  readonly rewriting: boolean;
  /** Only records in one of these groups. Undefined: all. */
  readonly groups: readonly string[] | undefined;
  readonly after: { readonly model: string; readonly id: string } | undefined;
  readonly limit: number;
  /** Most bytes of all lines together. A single larger record still fits. */
  readonly bytes: number;
}

export interface SnapshotPart {
  /** In lower case. */
  readonly model: string;
  readonly alternatives: readonly (readonly ListFilter[])[];
}

export interface SnapshotPage {
  /** JSON lines, each with its newline. */
  readonly lines: string;
  readonly count: number;
  readonly last: { readonly model: string; readonly id: string } | undefined;
  /** Whether there may be further records. */
  readonly hasMore: boolean;
}

/**
 * One page in (model, id) order. Postgres builds the lines and returns them as one value, so that the server's single
 * thread copies bytes instead of parsing rows. `names`: the declared names by lower-case name.
 *
 * Up to the first compressed record, sizes are read from the row headers, in one statement. From there on records have
 * to be decompressed to be measured, which only the second statement does.
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
  // The first record always fits, but only if the page is still empty.
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
  { name, text, values: more }: Statement,
  question: SnapshotQuestion,
  names: ReadonlyMap<string, string>,
): Promise<SnapshotPage & { readonly metCompressed: boolean }> {
  const { rows } = await db.query<Page>({
    // Without a name Postgres plans it with its values; only then can it use a field's index.
    ...(question.parts.length === 0 && { name }),
    text,
    values: [
      question.tenant,
      question.after?.model ?? "",
      question.after?.id ?? "",
      question.models ?? null,
      question.groups ?? null,
      question.limit,
      JSON.stringify(Object.fromEntries(names)),
      question.bytes,
      ...more,
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
  /** The records found, those before the first compressed one, and those in the lines. */
  readonly seen: number;
  readonly measured?: number;
  readonly count: number;
}

/** Parsed from the text: collecting model and id in Postgres would cost a tenth of the page. */
function lastOf(lines: string): SnapshotPage["last"] {
  BEGINNING.lastIndex = lines.lastIndexOf("\n", lines.length - 2) + 1;
  const [, model, id] = BEGINNING.exec(lines) ?? [];
  return model === undefined || id === undefined
    ? undefined
    : { model: (JSON.parse(model) as string).toLowerCase(), id };
}

const BEGINNING = /\{"model":("(?:[^"\\]|\\.)*"),"id":"([^"]*)"/y;

interface Statement {
  readonly name: string;
  readonly text: string;
  /** Of the parameters after the first eight. */
  readonly values: readonly unknown[];
}

const FIXED_PARAMETERS = 8;

function recordsOf({ rewriting, parts, after }: SnapshotQuestion): Pick<Statement, "text" | "values"> {
  const values: unknown[] = [];
  const param: Param = (value) => `$${FIXED_PARAMETERS + values.push(value)}`;
  const scan = (...conditions: string[]) =>
    `select model, id, sync_id, archived_at, created_at, created_by, updated_at, updated_by,
    sync_id <> created_sync_id as is_changed, data from ${recordTable(rewriting)}
  where tenant = $1 and ${conditions.join(" and ")} and ($5::text[] is null or groups && $5)
  order by model, id limit $6`;
  const whole = scan("(model, id) > ($2, $3)", "($4::text[] is null or model = any($4))");
  const some = parts.flatMap(({ model, alternatives }) => {
    if (after && model < after.model) return [];
    const meets = alternatives.map((filters) => filters.map((filter) => filterSql(filter, param)).join(" and "));
    return scan(
      `model = ${param(model)}::text`,
      ...(after?.model === model ? ["id > $3"] : []),
      meets.length === 0 ? "false" : `(${meets.map((one) => one || "true").join(" or ")})`,
    );
  });
  if (parts.length === 0) return { text: whole, values };
  const all = [whole, ...some].map((one) => `(${one})`).join(" union all ");
  return { text: `select * from (${all}) selected order by model, id limit $6`, values };
}

/** Bytes of a line besides its record. */
const REST = `114 + case when archived_at is null then 0 else 45 end + octet_length(model) + octet_length(id) + octet_length(created_by)
  + case when is_changed then 54 + octet_length(updated_by) else 0 end`;

const timeText = (column: string) => `'"' || to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"'`;

// The aggregates use the order in which the records are read. Sorting again would cost as much as everything else.
const LINES = `string_agg('{"model":' || coalesce(($7::jsonb -> model)::text, to_json(model)::text) || ',"id":"' || id || '","syncId":' || sync_id
  || case when archived_at is null then '' else ',"archivedAt":' || ${timeText("archived_at")} end
  || ',"createdAt":' || ${timeText("created_at")} || ',"createdBy":' || to_json(created_by)::text
  || case when is_changed then ',"updatedAt":' || ${timeText("updated_at")} || ',"updatedBy":' || to_json(updated_by)::text else '' end
  || ',"data":' || data || E'}\\n', '')`;

const FITS = "compressed = 0 and (bytes_through <= $8::bigint or bytes_through = bytes)";

/** All records before the first compressed one that fit. */
function plainPage(question: SnapshotQuestion): Statement {
  const { text, values } = recordsOf(question);
  return {
    values,
    name: question.rewriting ? "read_snapshot_rewriting" : "read_snapshot",
    text: `select ${LINES} filter (where ${FITS}) as lines, count(*)::int as seen,
      count(*) filter (where compressed = 0)::int as measured, count(*) filter (where ${FITS})::int as count
    from (select *, sum(bytes) over through as bytes_through, count(compression) over through as compressed
      from (select *, pg_column_size(data) + ${REST} as bytes, pg_column_compression(data) as compression from (${text}) counted) counted
      window through as (order by model, id rows unbounded preceding)) page`,
  };
}

/** All records that fit, compressed or not. */
function measuredPage(question: SnapshotQuestion): Statement {
  const { text, values } = recordsOf(question);
  return {
    values,
    name: question.rewriting ? "read_snapshot_measured_rewriting" : "read_snapshot_measured",
    text: `select ${LINES} filter (where fits) as lines, count(*)::int as seen, count(*) filter (where fits)::int as count
    from (${withinBytes({ rows: text, order: "model, id", json: ["data"], rest: REST, bytes: "$8::bigint" })}) page`,
  };
}
