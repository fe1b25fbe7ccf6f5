import type { JsonObject } from "@holdfast/sdk/protocol";
import type { AttachedColumn, FieldColumn } from "./attached-table.ts";
import type { CatalogColumn } from "./catalog-table.ts";
import { snakeCase } from "./column-of.ts";

/**
 * Stands among an attached table's columns for the one that says since when a record is archived. No field has such a
 * name, and a record's values do not have it: `splitArchived` takes it out.
 */
export const ARCHIVED = "$archivedAt";

/** The column of `table.archived`. */
export const archivedColumn = (name: string): FieldColumn => ({ field: ARCHIVED, name, declared: "datetime" });

/** Which column that is. Undefined: none; then only the line beside the row says it. */
export const archivedOf = <C extends FieldColumn>(columns: readonly C[]): C | undefined =>
  columns.find(({ field }) => field === ARCHIVED);

/** The SQL types that can say it, without precision. */
const MOMENTS: ReadonlySet<string> = new Set(["timestamp with time zone", "timestamp without time zone", "date"]);
export const isMoment = (sqlType: string): boolean => MOMENTS.has(sqlType.replace(/\(\d+\)/, ""));

/** The same of a column in the catalog. */
export const isMomentColumn = ({ type, isArray }: Pick<CatalogColumn, "type" | "isArray">): boolean =>
  !isArray && ["timestamptz", "timestamp", "date"].includes(type);

const USUAL_NAMES: ReadonlySet<string> = new Set(["deleted_at", "archived_at"]);

/** The column that usually says since when a record is archived. Undefined: none does, or two could. */
export function usualArchivedColumn(columns: readonly CatalogColumn[]): CatalogColumn | undefined {
  const [column, second] = columns.filter(
    (one) =>
      USUAL_NAMES.has(snakeCase(one.name)) &&
      isMomentColumn(one) &&
      !one.notNull &&
      one.default === null &&
      one.generated === null,
  );
  return second ? undefined : column;
}

/** What a row says of its record. */
export interface RowFacts {
  readonly data: JsonObject;
  /** Undefined: no column of the table says it. */
  readonly archivedAt: string | null | undefined;
}

export function splitArchived(image: JsonObject): RowFacts {
  if (!Object.hasOwn(image, ARCHIVED)) return { data: image, archivedAt: undefined };
  const { [ARCHIVED]: value, ...data } = image;
  return { data, archivedAt: typeof value === "string" ? archiveTime(value) : null };
}

const FIRST = "0001-01-01T00:00:00.000Z";
const LAST = "9999-12-31T23:59:59.999Z";

/**
 * A moment as a record has it, from what a row has in JSON. Without a time zone it is in UTC. What no record can have is
 * the nearest that it can: `infinity` is the last moment of all.
 */
export function archiveTime(text: string): string {
  const [, day, time = "00:00:00", fraction = ""] = MOMENT.exec(text) ?? [];
  if (day !== undefined) return `${day}T${time}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
  return text.startsWith("-") || text.endsWith("BC") ? FIRST : LAST;
}

const MOMENT = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z|\+00:00)?)?$/;

/** Whether a column is that of a field. */
export const isOfField = ({ field }: Pick<AttachedColumn, "field">): boolean => field !== ARCHIVED;
