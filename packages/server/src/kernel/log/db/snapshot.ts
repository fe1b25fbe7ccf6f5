import type { SnapshotLine } from "@holdfast/sdk/protocol";
import type { QueryResultRow } from "pg";
import { IS_UNREADABLE } from "../../commits/db/unreadable-data.ts";
import { reading } from "../../connection/reading-table.ts";
import type { Transaction } from "../../connection/transaction.ts";
import { hostedRelation } from "../../lists/db/hosted-relation.ts";
import type { RecordRelation } from "../../lists/db/record-relation.ts";
import { filterSql, type Param } from "../../lists/db/wanted-records.ts";
import type { ListCondition } from "../../lists/rules/list-filter.ts";
import { withinBytes } from "./within-bytes.ts";

export interface SnapshotQuestion {
  readonly tenant: number;
  /** Lower-case names of the models that are read whole. Undefined: every model. */
  readonly models: readonly string[] | undefined;
  /** Those of which only some records are read: each that meets all filters of one of the alternatives. */
  readonly parts: readonly SnapshotPart[];
  /** A push is rewriting the tenant's records: some have their new form beside their row. */
  readonly rewriting: boolean;
  /** By model, in order: where the records are that Holdfast does not keep itself. */
  readonly relations: ReadonlyMap<string, RecordRelation>;
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
  readonly alternatives: readonly (readonly ListCondition[])[];
}

export interface SnapshotPage {
  /** JSON lines, each with its newline. */
  readonly lines: string;
  readonly count: number;
  /** Records that are left out, because they are too large. */
  readonly unreadable: readonly UnreadableLine[];
  readonly last: { readonly model: string; readonly id: string } | undefined;
  /** Whether there may be further records. */
  readonly hasMore: boolean;
}

/**
 * One page: first the records that Holdfast keeps, in (model, id) order, then those of each relation in the order of its
 * keys. `names`: the declared names by lower-case name.
 */
export async function readSnapshotPage(
  db: Transaction,
  question: SnapshotQuestion,
  names: ReadonlyMap<string, string>,
): Promise<SnapshotPage> {
  const { after, relations, models, parts } = question;
  const all = [undefined, ...relations.keys()];
  const first = Math.max(0, all.indexOf(after?.model));
  let page: SnapshotPage = EMPTY;
  for (const model of all.slice(first)) {
    const whole = model === undefined || models === undefined || models.includes(model);
    if (!whole && !parts.some((part) => part.model === model)) continue;
    const used = Buffer.byteLength(page.lines);
    const own = { ...question, after: model === after?.model || model === undefined ? after : undefined };
    const left = { ...own, limit: question.limit - seenIn(page), bytes: question.bytes - used };
    if (left.limit === 0 || (page.count > 0 && left.bytes <= 0)) return { ...page, hasMore: true };
    const relation = model === undefined ? undefined : relations.get(model);
    const next = await reading({ table: relation?.table }, () => readPart(db, left, model, names));
    // The first record always fits, but only if the page is still empty.
    if (page.count > 0 && Buffer.byteLength(next.lines) > left.bytes) return { ...page, hasMore: true };
    page = both(page, next);
    if (page.hasMore) return page;
  }
  return page;
}

const EMPTY: SnapshotPage = { lines: "", count: 0, unreadable: [], last: undefined, hasMore: false };

const both = (before: SnapshotPage, next: SnapshotPage): SnapshotPage => ({
  lines: before.lines + next.lines,
  count: before.count + next.count,
  unreadable: [...before.unreadable, ...next.unreadable],
  last: next.last ?? before.last,
  hasMore: next.hasMore,
});

const seenIn = ({ count, unreadable }: SnapshotPage): number => count + unreadable.length;

/**
 * The records of one relation, or those that Holdfast keeps. Postgres builds the lines and returns them as one value, so that the server's single
 * thread copies bytes instead of parsing rows.
 *
 * Up to the first compressed record, sizes are read from the row headers, in one statement. From there on records have
 * to be decompressed to be measured, which only the second statement does.
 */
async function readPart(
  db: Transaction,
  question: SnapshotQuestion,
  model: string | undefined,
  names: ReadonlyMap<string, string>,
): Promise<SnapshotPage> {
  const records = recordsOf(question, model);
  const plain = await readPage(db, plainPage(records), question, names);
  if (!plain.metCompressed) return plain;
  const used = Buffer.byteLength(plain.lines);
  const rest = await readPage(
    db,
    measuredPage(recordsOf({ ...question, after: plain.last ?? question.after }, model)),
    {
      ...question,
      after: plain.last ?? question.after,
      limit: question.limit - seenIn(plain),
      bytes: question.bytes - used,
    },
    names,
  );
  // The first record always fits, but only if the page is still empty.
  if (plain.count > 0 && Buffer.byteLength(rest.lines) > question.bytes - used) return plain;
  return both(plain, rest);
}

async function readPage(
  db: Transaction,
  { name, text, values: more }: Named,
  question: SnapshotQuestion,
  names: ReadonlyMap<string, string>,
): Promise<SnapshotPage & { readonly metCompressed: boolean }> {
  const { rows } = await db.query<Page>({
    ...(name !== undefined && { name }),
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
  const { lines: found, count: inPage = 0, seen = 0, measured = seen, marks = 0 } = rows[0] ?? {};
  const all = found ?? "";
  const metCompressed = inPage === measured && measured < seen;
  const hasMore = seen === question.limit || inPage < seen;
  const last = lastOf(all);
  const { lines, unreadable } = marks === 0 ? { lines: all, unreadable: [] } : withoutMarks(all);
  return { lines, count: inPage - unreadable.length, unreadable, last, hasMore, metCompressed };
}

/** Lines of unreadable records begin with a mark, and have the number of their bytes in place of values. */
function withoutMarks(lines: string): Pick<SnapshotPage, "lines" | "unreadable"> {
  const unreadable: UnreadableLine[] = [];
  const kept = lines.split(/(?<=\n)/).filter((line) => {
    if (!line.startsWith(MARK)) return true;
    const { model, id, data } = JSON.parse(line.slice(MARK.length)) as Pick<SnapshotLine, "model" | "id"> & {
      data: number;
    };
    unreadable.push({ model, id, bytes: data });
    return false;
  });
  return { lines: kept.join(""), unreadable };
}

interface UnreadableLine extends Pick<SnapshotLine, "model" | "id"> {
  /** 0: Postgres cannot make its JSON. */
  readonly bytes: number;
}

/** No line of JSON begins with it. */
const MARK = "-";

interface Page extends QueryResultRow {
  readonly lines: string | null;
  /** The records found, those before the first compressed one, and those in the lines. */
  readonly seen: number;
  readonly measured?: number;
  readonly count: number;
  /** Those in the lines that are unreadable. */
  readonly marks?: number;
}

/** Parsed from the text: collecting model and id in Postgres would cost a tenth of the page. */
function lastOf(lines: string): SnapshotPage["last"] {
  BEGINNING.lastIndex = lines.lastIndexOf("\n", lines.length - 2) + 1;
  const [, model, id] = BEGINNING.exec(lines) ?? [];
  return model === undefined || id === undefined
    ? undefined
    : { model: (JSON.parse(model) as string).toLowerCase(), id };
}

const BEGINNING = /-?\{"model":("(?:[^"\\]|\\.)*"),"id":"([^"]*)"/y;

interface Statement {
  readonly text: string;
  /** Of the parameters after the first eight. */
  readonly values: readonly unknown[];
}

interface Named extends Statement {
  readonly name: string | undefined;
}

interface Records extends Statement {
  /** What is in the statement's name. Undefined: Postgres plans it with its values; only then can it use a field's index. */
  readonly kind: string | undefined;
  /** The order of the records. */
  readonly order: string;
  readonly isAttached: boolean;
}

const FIXED_PARAMETERS = 8;

const COLUMNS = `model, id, sync_id, archived_at, created_at, created_by, updated_at, updated_by,
    sync_id <> created_sync_id as is_changed, data`;
const IN_GROUPS = "($5::text[] is null or groups && $5)";

const recordsOf = (question: SnapshotQuestion, model: string | undefined): Records => {
  const relation = model === undefined ? undefined : question.relations.get(model);
  return model !== undefined && relation ? attachedRecords(question, model, relation) : hostedRecords(question);
};

/** Adds parameters after the fixed ones. */
function furtherParameters() {
  const values: unknown[] = [];
  const param: Param = (value) => `$${FIXED_PARAMETERS + values.push(value)}`;
  return { values, param };
}

function hostedRecords({ tenant, rewriting, parts: all, after, relations }: SnapshotQuestion): Records {
  const { values, param } = furtherParameters();
  const relation = hostedRelation(rewriting, tenant);
  const elsewhere = relations.size === 0 ? [] : [`model <> all(${param([...relations.keys()])}::text[])`];
  const scan = (...conditions: string[]) =>
    `select ${COLUMNS} from ${relation.from}
  where tenant = $1 and ${conditions.join(" and ")} and ${IN_GROUPS}
  order by model, id limit $6`;
  const whole = scan("(model, id) > ($2, $3)", "($4::text[] is null or model = any($4))", ...elsewhere);
  const parts = all.filter(({ model }) => !relations.has(model));
  const some = parts.flatMap(({ model, alternatives }) => {
    if (after && model < after.model) return [];
    return scan(
      `model = ${param(model)}::text`,
      ...(after?.model === model ? ["id > $3"] : []),
      meetsOne(relation, alternatives, param),
    );
  });
  const kind = rewriting ? "_rewriting" : "";
  const hosted = { values, order: "model, id", isAttached: false };
  if (parts.length === 0) return { ...hosted, text: whole, kind: relations.size === 0 ? kind : undefined };
  const united = [whole, ...some].map((one) => `(${one})`).join(" union all ");
  return { ...hosted, text: `select * from (${united}) selected order by model, id limit $6`, kind: undefined };
}

function attachedRecords({ parts, after }: SnapshotQuestion, model: string, relation: RecordRelation): Records {
  const { values, param } = furtherParameters();
  const { expression, type } = relation.idOrder;
  const part = parts.find((one) => one.model === model);
  const conditions = [
    // Each parameter has to occur.
    "$1::int is not null and $2::text is not null and ($4::text[] is null or true)",
    after ? `${expression} > $3::text::${type}` : "$3::text is not null",
    IN_GROUPS,
    ...(part ? [meetsOne(relation, part.alternatives, param)] : []),
  ];
  const text = `select ${COLUMNS}, ${expression} as place from ${relation.from} r where ${conditions.join(" and ")}
  order by ${expression} limit $6`;
  return { text, values, order: "place", kind: undefined, isAttached: true };
}

function meetsOne(relation: RecordRelation, alternatives: SnapshotPart["alternatives"], param: Param): string {
  const meets = alternatives.map((filters) =>
    filters.map((filter) => filterSql(relation, filter, param)).join(" and "),
  );
  return meets.length === 0 ? "false" : `(${meets.map((one) => one || "true").join(" or ")})`;
}

/** Bytes of a line besides its record. */
const REST = `114 + case when archived_at is null then 0 else 45 end + octet_length(model) + octet_length(id) + octet_length(created_by)
  + case when is_changed then 54 + octet_length(updated_by) else 0 end`;

const timeText = (column: string) => `'"' || to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"'`;

// The aggregates use the order in which the records are read. Sorting again would cost as much as everything else.
const linesSql = (
  isAttached: boolean,
) => `string_agg(${isAttached ? `case when ${IS_UNREADABLE} then '${MARK}' else '' end || ` : ""}'{"model":' || coalesce(($7::jsonb -> model)::text, to_json(model)::text) || ',"id":"' || id || '","syncId":' || sync_id
  || case when archived_at is null then '' else ',"archivedAt":' || ${timeText("archived_at")} end
  || ',"createdAt":' || ${timeText("created_at")} || ',"createdBy":' || to_json(created_by)::text
  || case when is_changed then ',"updatedAt":' || ${timeText("updated_at")} || ',"updatedBy":' || to_json(updated_by)::text else '' end
  || ',"data":' || data || E'}\\n', '')`;

const marks = (isAttached: boolean) => (isAttached ? `, count(*) filter (where ${IS_UNREADABLE})::int as marks` : "");

const FITS = "compressed = 0 and (bytes_through <= $8::bigint or bytes_through = bytes)";

/** All records before the first compressed one that fit. */
function plainPage({ text, values, kind, order, isAttached }: Records): Named {
  return {
    values,
    name: kind === undefined ? undefined : `read_snapshot${kind}`,
    text: `select ${linesSql(isAttached)} filter (where ${FITS}) as lines, count(*)::int as seen,
      count(*) filter (where compressed = 0)::int as measured, count(*) filter (where ${FITS})::int as count${marks(isAttached)}
    from (select *, sum(bytes) over through as bytes_through, count(compression) over through as compressed
      from (select *, pg_column_size(data) + ${REST} as bytes, pg_column_compression(data) as compression from (${text}) counted) counted
      window through as (order by ${order} rows unbounded preceding)) page`,
  };
}

/** All records that fit, compressed or not. */
function measuredPage({ text, values, kind, order, isAttached }: Records): Named {
  return {
    values,
    name: kind === undefined ? undefined : `read_snapshot_measured${kind}`,
    text: `select ${linesSql(isAttached)} filter (where fits) as lines, count(*)::int as seen, count(*) filter (where fits)::int as count${marks(isAttached)}
    from (${withinBytes({ rows: text, order, json: ["data"], rest: REST, bytes: "$8::bigint" })}) page`,
  };
}
