import type { FieldType } from "@holdfast/sdk/protocol";

/** `detaching`: the triggers are gone, what they captured is recorded, and the values come to the records. */
export type AttachmentStatus = "attached" | "detaching";

/** A table of the caller's own whose rows are the records of one model of one tenant. */
export interface AttachedTable {
  readonly tenant: number;
  /** In lower case. */
  readonly model: string;
  /** The table's number in Postgres' catalog: it stays when the table is renamed. */
  readonly relation: number;
  /** As an SQL name, when it was attached. */
  readonly name: string;
  /** Its value is the record's id. */
  readonly keyColumn: string;
  readonly columns: readonly AttachedColumn[];
  /** While it is detached: the key up to which the values have come to the records. */
  readonly copiedTo: string | null;
  /** The key up to which its rows have got entries, if that was asked for. */
  readonly emittedTo: string | null;
  readonly status: AttachmentStatus;
  /** Where the log stood when it was attached. */
  readonly attachedSyncId: number;
  /** ISO. */
  readonly attachedAt: string;
  /** The group rules of its model. */
  readonly groupRules: readonly { readonly kind: string; readonly from: string }[];
  /** What has to be repaired before its changes can be recorded; until then they wait. */
  readonly problem: string | null;
  /** As an SQL name, now. Empty if the table is gone. */
  readonly sqlName: string;
  /** Our role may read all its rows. */
  readonly readable: boolean;
  /** The SQL type of the key, without domains; null if the table or the column is gone. */
  readonly keyType: string | null;
  /** Its key tells all its rows apart: by a primary key, or another index. */
  readonly keyIsUnique: boolean;
  /** Its rows are also another table's, or another table's are also its: by inheritance, or because it is a partition. */
  readonly hasRelatives: boolean;
  /** The database makes the keys of new rows. */
  readonly keyIsGenerated: boolean;
  /** Why rows may have been written without being captured. Null: no reason is known. */
  readonly missed: string | null;
  /** The table or its partitions, if our triggers there do not fire. */
  readonly silent: readonly string[];
  /** More may happen when its rows are written: by triggers and rules of the caller's, and by foreign keys that act on other rows. */
  readonly actsBeyond: boolean;
}

/** What is stored about an attachment; the rest is in Postgres' catalog. */
export type Attachment = Omit<
  AttachedTable,
  "sqlName" | "readable" | "keyType" | "keyIsUnique" | "hasRelatives" | "keyIsGenerated" | "actsBeyond" | "silent"
>;

/**
 * How a column's value comes into the record: as it is in JSON; a number as text, so that numeric keeps its digits; a
 * number, or a point in time as JavaScript writes it, as far as a field of the type can have it: else it is null.
 */
export type ValueForm = "json" | "text" | "number" | "time";

/** Which column has the value of which field. */
export interface FieldColumn {
  readonly field: string;
  readonly name: string;
  /** The type of the field. */
  readonly declared: FieldType;
}

export interface AttachedColumn extends FieldColumn {
  /** The SQL name of its type now, which may be a domain. Null if the column is gone. */
  readonly sqlType: string | null;
  /** Its SQL type now, without domains: `character varying(20)`, or `enum`. Empty if the column is gone. */
  readonly type: string;
  /** A cast of the owner's makes its JSON, and may fail. */
  readonly hasJsonCast?: boolean;
}
