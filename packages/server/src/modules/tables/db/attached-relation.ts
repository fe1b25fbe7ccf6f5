import type { FieldType } from "@holdfast/sdk/protocol";
import { columnSql, searchedSql } from "../../../kernel/lists/db/record-column.ts";
import type { ColumnSql, EqualitySql, RecordRelation, Written } from "../../../kernel/lists/db/record-relation.ts";
import type { ListColumn, SortColumn } from "../../../kernel/lists/rules/list-column.ts";
import type { AttachedColumn, AttachedTable, ValueForm } from "../rules/attached-table.ts";
import { identifier, literal } from "./row-text.ts";

export interface RelationRules {
  /** Whether an id is a key of this SQL type, in the form in which Postgres writes it. */
  isKeyOf(type: string, id: string): boolean;
  /** Whether a field of this type takes the values of a column of this SQL type. Otherwise they all read as null. */
  takesType(column: AttachedColumn): boolean;
  formOf(declared: FieldType, type: string): ValueForm;
  /** The column that says since when a record is archived, if one does. It is of no field. */
  archivedOf(columns: readonly AttachedColumn[]): AttachedColumn | undefined;
  /** Records with more bytes of JSON are not read. */
  readonly readableBytes: number;
  /** Who counts as having made the rows that were there before. */
  readonly madeBy: string;
}

interface RelationColumn extends AttachedColumn {
  /** Its name in the relation, as an SQL name. */
  readonly exposed: string;
  /** `null`: the column is gone, or of another type than its field. */
  readonly form: ValueForm | "null";
}

interface RelationTable extends Omit<AttachedTable, "columns"> {
  readonly columns: readonly RelationColumn[];
}

/**
 * The records of an attached table: their values are in the table alone, and what the table lacks is in the lines of
 * `holdfast.record`. A row without a line was there when the table was attached.
 *
 * The SQL has the columns of `holdfast.record`, `key`, and each column of the table under `column <number>`. It has no
 * parameters. Postgres plans it as one join in the order of the key, if it is used by one query without its own limit.
 */
export function attachedRelation(attached: AttachedTable, rules: RelationRules): RecordRelation {
  const archived = rules.archivedOf(attached.columns);
  const columns = attached.columns
    .filter((column) => column !== archived)
    .map(
      (column, i): RelationColumn => ({
        ...column,
        exposed: identifier(`column ${i}`),
        form: rules.takesType(column) ? rules.formOf(column.declared, column.type) : "null",
      }),
    );
  const table: RelationTable = { ...attached, columns };
  const { keyType } = table;
  // While the column is gone, what the log said last.
  const archivedAt = archived && rules.takesType(archived) ? archivedSql(archived) : "l.archived_at";
  return {
    from: recordsSql(table, rules, archivedAt),
    table: table.sqlName === "" ? table.name : table.sqlName,
    idOrder: { expression: "key", type: keyType ?? "text" },
    column: (column, written) => columnOf(table, column, written) ?? columnSql(column, written),
    searched(column, written) {
      const text = column.kind === "field" ? textOf(table, column.name) : undefined;
      return text === undefined ? searchedSql(column, written) : `(holdfast.folded(${text}) collate "C")`;
    },
    text: (column) => (column.kind === "field" ? textOf(table, column.name) : undefined),
    someItem: ({ name }, json, param) => someItemOf(table, name, json, param, rules),
    equality: (column) => equalityOf(table, column, rules),
    takesId: (id) => rules.isKeyOf(keyType ?? "", id),
  };
}

function recordsSql(
  { tenant, model, sqlName, keyColumn, columns, attachedSyncId, attachedAt, groupRules }: RelationTable,
  { madeBy, readableBytes }: RelationRules,
  archivedAt: string,
) {
  const key = `t.${identifier(keyColumn)}`;
  const id = `${key}::text`;
  const raw = columns.filter(isThere).map((column) => `t.${identifier(column.name)} as ${column.exposed}`);
  const line = (column: string, otherwise: string) => `coalesce(l.${column}, ${otherwise}) as ${column}`;
  const since = `timestamptz ${literal(attachedAt)}`;
  const facts = [
    ...[
      `${tenant} as tenant`,
      `${literal(model)}::text collate "C" as model`,
      `(${id}) collate "C" as id`,
      `${key} as key`,
    ],
    line("sync_id", String(attachedSyncId)),
    `${dataSql(id, columns, readableBytes)} as data`,
    `${groupsOf(columns, groupRules)} as groups`,
    `${archivedAt} as archived_at`,
    line("created_sync_id", String(attachedSyncId)),
    line("created_by", literal(madeBy)),
    line("created_at", since),
    line("updated_at", since),
    line("updated_by", literal(madeBy)),
    ...raw,
  ];
  return `(select ${facts.join(", ")} from ${sqlName} t left join holdfast.record l
    on l.tenant = ${tenant} and l.model = ${literal(model)} and l.id = (${id}) collate "C")`;
}

/**
 * The JSON of a record; of an unreadable one, the number of its bytes (`unreadableBytes`). Postgres cannot make JSON of
 * more than 1 GiB, and fails all rows of a statement for one. So rows that may be large are made by a function that
 * survives that, and those that are certainly too large are not made at all. It reads sizes from the heads of the
 * values, without decompressing them: of a row of a few KiB, this costs next to nothing.
 */
function dataSql(id: string, columns: readonly RelationColumn[], readableBytes: number): string {
  const made = (values: readonly string[]) => `select ${[`${id} as id`, ...values].join(", ")}`;
  const named = (sql: string, { field }: RelationColumn) => `${sql} as ${identifier(field)}`;
  const plain = `(select row_to_json(d.*) from (${made(columns.map((column) => named(jsonOf(column), column)))}) d)`;
  const sizes = columns.filter(isThere).flatMap((column) => sizeOf(column, readableBytes) ?? []);
  if (sizes.length === 0) return plain;
  const most = sizes.map((size) => size.most).join(" + ");
  const least = sizes.map((size) => size.least).join(" + ");
  const guarded = columns.map((column) => named(guardedJson(column), column));
  const lost = columns
    .filter((column) => guardedJson(column) !== jsonOf(column))
    .map(({ name, field }) => `d.${identifier(field)} is null and t.${identifier(name)} is not null`);
  const endless = columns.filter((column) => isThere(column) && column.type === "jsonb").map(endlessSql);
  const cannot = (when: readonly string[], otherwise: string) =>
    when.length === 0 ? otherwise : `case when ${when.join(" or ")} then '0'::json else ${otherwise} end`;
  const safe = cannot(lost, `holdfast.readable_json(d.*, ${readableBytes})`);
  const row = cannot(endless, `(select ${safe} from (${made(guarded)} offset 0) d)`);
  return `case when ${most} <= ${readableBytes} then ${plain}
    else (select case when s.least > ${readableBytes} then to_json(s.least) else ${row} end from (select ${least} as least offset 0) s) end`;
}

/** A control character has six in JSON. */
const MOST_ESCAPED = 6;
/** `1e131071` has 131 072 digits, and takes 8 bytes. */
const MOST_DIGITS = 16_384;

/**
 * How many bytes of JSON a value has, at most, and about at least: as many as it has itself. Postgres writes JSON of a
 * `jsonb` with 128 MiB for seconds, and cannot be interrupted meanwhile. Undefined: they are few.
 */
function sizeOf(
  { name, type, hasJsonCast }: RelationColumn,
  readableBytes: number,
): { readonly most: string; readonly least: string } | undefined {
  const column = `t.${identifier(name)}`;
  const bytes = (sql: string) => `coalesce(${sql}, 0)::bigint`;
  if (hasJsonCast) return { most: `case when ${column} is null then 0 else ${readableBytes + 1} end`, least: "0" };
  if (SMALL.test(type)) return undefined;
  if (HAS_LENGTH.test(type) || isCitext(type)) {
    const length = bytes(`octet_length(${isCitext(type) ? `${column}::text` : column})`);
    return { most: `${MOST_ESCAPED} * ${length}`, least: length };
  }
  const stored = bytes(`pg_column_size(${column})`);
  const isCompressed = `pg_column_compression(${column}) is not null`;
  const most = `case when ${isCompressed} then ${readableBytes + 1} else ${MOST_DIGITS} * ${stored} end`;
  if (type !== "json") return { most, least: storedSql(column) };
  return { most, least: `case when ${isCompressed} then ${bytes(`octet_length(${column}::text)`)} else ${stored} end` };
}

const SMALL =
  /^(enum|"char"|name|uuid|smallint|integer|bigint|real|double precision|boolean|timestamp|date|time|interval)\b[^[]*$/;
const HAS_LENGTH = /^(text|character varying|character|bytea)(\(\d+\))?$/;

/**
 * Whether a document has many numbers like 1e131071, which no double can hold: their digits would take seconds. Small
 * documents have few of them.
 */
function endlessSql({ name }: RelationColumn): string {
  const column = `t.${identifier(name)}`;
  const found = `jsonb_path_query(${column}, 'strict $.** ? (@ >= 1e309 || @ <= -1e309)')`;
  return `${storedSql(column)} > ${SMALL_DOCUMENT} and (select count(*) from ${found}) > ${MOST_ENDLESS}`;
}

const SMALL_DOCUMENT = 32_768;
const MOST_ENDLESS = 256;

/** The bytes of a value without compression: an array has its items so. */
const storedSql = (column: string): string =>
  `coalesce(case when pg_column_compression(${column}) is not null then pg_column_size(array[${column}]) else pg_column_size(${column}) end, 0)::bigint`;

/** The value, or null if Postgres cannot make it. */
function guardedJson(column: RelationColumn): string {
  const { name, form, type } = column;
  if (form === "text" && type.endsWith("[]")) return `holdfast.texts_or_null(t.${identifier(name)})`;
  return isGuarded(column) ? `holdfast.pinned_or_null(t.${identifier(name)})` : jsonOf(column);
}

const isGuarded = ({ form, type, hasJsonCast = false }: RelationColumn): boolean =>
  form === "json" && (hasJsonCast || (!SMALL.test(type) && (type === "json" || !isPlain(type))));

/** Since when the row says that its record is archived: the same as `archiveTime` makes of a row in JSON. */
function archivedSql({ name, type }: AttachedColumn): string {
  const column = `t.${identifier(name)}`;
  const day = `least(greatest(${column}::date, '0001-01-01'), '10000-01-01')`;
  const inUtc = `(${type === "date" ? day : column}::timestamp at time zone 'UTC')`;
  const moment = type.endsWith("with time zone") ? `${column}::timestamptz` : inUtc;
  return `case when ${column} is not null then date_trunc('milliseconds',
    least(greatest(${moment}, timestamptz '0001-01-01 00:00Z'), timestamptz '9999-12-31 23:59:59.999Z')) end`;
}

/** The value as the record has it: the same as `readRowImage` makes of a row in JSON. */
function jsonOf({ name, form, type }: RelationColumn): string {
  if (form === "null") return "null";
  const column = `t.${identifier(name)}`;
  if (form === "text") return `${column}::text${type.endsWith("[]") ? "[]" : ""}`;
  if (form === "time") return `holdfast.time_text(${column})`;
  if (form === "number")
    return `case when ${isFiniteSql(column, NUMERIC.get(type.replace(/\(.*/, "")) ?? "numeric")} then ${column} end`;
  if (type === "json") return `holdfast.storable_json(${column})`;
  return isPlain(type) ? column : `holdfast.pinned_json(${column})`;
}

/** Types whose JSON text depends on no setting that a session of ours may have. */
const PLAIN =
  /^(enum|text|character varying|character|"char"|name|uuid|smallint|integer|bigint|numeric|real|double precision|boolean|jsonb|timestamp|date|time)\b/;
const isPlain = (type: string): boolean => PLAIN.test(type) || isCitext(type);
const isCitext = (type: string): boolean => /(^|\.)citext$/.test(type);

const TEXTS = /^(enum|text|character varying|name|uuid)(\(\d+\))?$/;
const isText = ({ type, form }: RelationColumn): boolean => form === "json" && isTextType(type);
const NUMBERS: ReadonlyMap<string, string> = new Map([
  ...["smallint", "integer", "bigint"].map((type) => [type, "int8"] as const),
  ["double precision", "float8"],
]);

const NUMERIC: ReadonlyMap<string, "float4" | "float8"> = new Map([
  ["real", "float4"],
  ["double precision", "float8"],
]);

const isThere = ({ form }: RelationColumn): boolean => form !== "null";

const found = ({ columns }: RelationTable, field: string): RelationColumn | undefined =>
  columns.filter(isThere).find((column) => column.field === field);

const isTextType = (type: string): boolean => TEXTS.test(type) || isCitext(type);

/** The text of a field that a column of text has. */
function textOf(table: RelationTable, field: string): string | undefined {
  const column = found(table, field);
  return column && isText(column) ? `${column.exposed}::text` : undefined;
}

/** Undefined: the field is compared by its JSON value, without an index of the table. */
function columnOf(table: RelationTable, column: SortColumn, written: Written): ColumnSql | undefined {
  if (column.kind !== "field" && column.kind !== "rank") return undefined;
  const attached = found(table, column.name);
  if (!attached) return undefined;
  const raw = attached.exposed;
  if (column.kind === "rank") {
    if (!isText(attached)) return undefined;
    return {
      expression: `array_position(array[${column.values.map(written).join(", ")}], ${raw}::text)`,
      type: "int4",
    };
  }
  const number = NUMBERS.get(attached.type);
  if (column.type === "integer" && number === "int8") return { expression: raw, type: number };
  if (column.type === "number" && number === "float8") return limited(raw, number, isFiniteSql(raw, "float8"));
  if (column.type === "boolean" && attached.type === "boolean") return { expression: raw, type: "boolean" };
  if (column.type === "datetime" && attached.form === "time")
    return limited(
      raw,
      "timestamptz",
      `(${raw} >= timestamptz '0001-01-01 00:00Z' and ${raw} < timestamptz '10000-01-01 00:00Z')`,
    );
  if (isText(attached)) return { expression: `(${raw}::text collate "C")`, type: "text", whole: true };
  return undefined;
}

/** What the field cannot have is null. */
const limited = (raw: string, type: string, isValue: string): ColumnSql => ({
  ...{ expression: `(case when ${isValue} then ${raw} end)`, type },
  stored: { expression: raw, isValue },
});

/** NaN is greater than all other numbers. */
const isFiniteSql = (column: string, type: "float4" | "float8" | "numeric"): string =>
  type === "numeric"
    ? `(${column} between -1.7976931348623157e308 and 1.7976931348623157e308)`
    : `(${column} > ${type} '-Infinity' and ${column} < ${type} 'Infinity')`;

/** How a column of text is compared for equality, so that an index of it serves. */
function equalityOf(table: RelationTable, column: ListColumn, { isKeyOf }: RelationRules): EqualitySql | undefined {
  const { keyType } = table;
  if (column.kind === "id")
    return keyType === null
      ? undefined
      : { expression: "key", type: keyType, exact: "id", takes: (id) => isKeyOf(keyType, id) };
  const attached = column.kind === "field" ? found(table, column.name) : undefined;
  if (attached?.form !== "json") return undefined;
  const expression = attached.exposed;
  if (attached.type === "uuid") return { expression, type: "uuid", takes: (value) => isKeyOf("uuid", value) };
  const isPlainText = /^(text|character varying)(\(\d+\))?$/.test(attached.type);
  if (!isPlainText) return undefined;
  // A collation may hold different texts to be equal.
  return { expression, type: "text", exact: `${expression}::text collate "C"`, takes: () => true };
}

/** Element types whose values JSON has as texts, or as numbers. */
const TEXT_ITEMS = /^(text|character varying|uuid)\[\]$/;
const WHOLE_ITEMS = /^(smallint|integer|bigint)\[\]$/;
const MOST: Readonly<Record<string, number>> = { "smallint[]": 2 ** 15, "integer[]": 2 ** 31 };

/** A list in a list is no element of an array in SQL, and null is equal to none. */
function someItemOf(
  table: RelationTable,
  field: string,
  json: readonly string[],
  param: (value: unknown) => string,
  { isKeyOf }: RelationRules,
): string | undefined {
  const column = found(table, field);
  if (!column) return undefined;
  const raw = column.exposed;
  const either = (each: readonly string[]) => (each.length === 0 ? "false" : `(${each.join(" or ")})`);
  const type = column.type.replace(/\(.*?\)/, "");
  if (type === "jsonb") return either(json.map((item) => `${raw} @> ${param(`[${item}]`)}::jsonb`));
  const isText = TEXT_ITEMS.test(type);
  if (column.form !== "json" || (!isText && !WHOLE_ITEMS.test(type))) return undefined;
  const items = json.map((item): unknown => JSON.parse(item));
  if (items.some((item) => typeof item === "object")) return undefined;
  const most = MOST[type] ?? 2 ** 53;
  const takes = (item: unknown) =>
    isText
      ? typeof item === "string" && (type !== "uuid[]" || isKeyOf("uuid", item))
      : Number.isInteger(item) && -most <= Number(item) && Number(item) < most;
  return either(items.filter(takes).map((item) => `${raw} @> array[${param(String(item))}::text]::${type}`));
}

/** The groups that the rules make of the columns, as `groupsOf` does. */
function groupsOf(columns: readonly RelationColumn[], rules: AttachedTable["groupRules"]): string {
  const groups = rules.flatMap(({ kind, from }) => {
    const column = columns.filter(isThere).find(({ field }) => field === from);
    const isNumber = column && NUMBERS.has(column.type) && column.form !== "number";
    const text = column && (isText(column) || isNumber || column.type === "boolean");
    if (!column) return [];
    return [
      `${literal(`${kind}:`)} || ${text ? `t.${identifier(column.name)}::text` : `case when pg_column_size(t.${identifier(column.name)}) <= 2000 then to_json(${jsonOf(column)}) #>> '{}' end`}`,
    ];
  });
  if (groups.length === 0) return "array[]::text[]";
  return `array(select distinct g collate "C" from unnest(array[${groups.join(", ")}]) g where g ~ ${literal(GROUP)} order by 1)`;
}

/** As `isSyncGroup`: Postgres would leave out other kinds of space. */
const GROUP =
  "^[a-z][a-z0-9_]*:[^ \\t\\n\\v\\f\\r\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]{1,200}$";
