import type { ListColumn, SortColumn } from "../rules/list-column.ts";

/** The SQL expression of a column of records, and its type. */
export interface ColumnSql {
  readonly expression: string;
  readonly type: string;
  /** Of a text: it is not cut to `TEXT_KEPT` characters. */
  readonly whole?: true;
  /**
   * Where the stored column can have more values than the field, for which `expression` is null: the column itself, which an
   * index serves, and the condition that it has a value of the field.
   */
  readonly stored?: { readonly expression: string; readonly isValue: string };
}

export type FieldColumn = Extract<ListColumn, { readonly kind: "field" }>;

/** The longest id that the indexes of `holdfast.record` take beside a model's name, in characters. Others have longer keys. */
export const LONGEST_KEY = 512;

/** Where the records of a model are, with the columns of `holdfast.record`, and how their fields are read. */
export interface RecordRelation {
  /** SQL of the relation. */
  readonly from: string;
  /** The caller's table, as an SQL name. Undefined: Holdfast keeps the records itself. */
  readonly table: string | undefined;
  /** What orders the records of a model, and tells them apart. */
  readonly idOrder: ColumnSql;
  column(column: SortColumn, written: Written): ColumnSql;
  /** The text of a column in the form in which words are searched. */
  searched(column: ListColumn, written: Written): string;
  /** The whole text of a field. Undefined: it is read from the JSON. */
  text(column: ListColumn): string | undefined;
  /** How a column is compared for equality. Undefined: as it is sorted. */
  equality(column: ListColumn): EqualitySql | undefined;
  /**
   * A condition that every record meets whose array has one of these items, and that an index may serve; others may meet
   * it too. Undefined: no index can.
   */
  someItem(field: FieldColumn, json: readonly string[], param: (value: unknown) => string): string | undefined;
  /** Whether a record can have this id. */
  takesId(id: string): boolean;
}

export interface EqualitySql {
  readonly expression: string;
  readonly type: string;
  /** The value as a text, where different values may be equal for the type. */
  readonly exact?: string;
  /** Whether a value is one of the type. */
  takes(value: string): boolean;
}

/** Writes a text as a literal or as a parameter. */
export type Written = (text: string) => string;
