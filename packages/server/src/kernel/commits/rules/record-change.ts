import type { JsonObject } from "@holdfast/sdk/protocol";

/** A change of one record that has happened elsewhere: in a table or a service of the caller's. */
export interface RecordChange {
  readonly model: string;
  readonly id: string;
  /** Null: it is gone. */
  readonly data: JsonObject | null;
  /** Why `data` is empty, if the row is too large to be read. */
  readonly unreadable?: string;
  /** Null: it was not there. Undefined: not known. */
  readonly before?: JsonObject | null | undefined;
  /** Since when the row says that it is archived, and said so before. Undefined: it says nothing of it. */
  readonly archivedAt?: string | null | undefined;
  readonly archivedBefore?: string | null | undefined;
}
