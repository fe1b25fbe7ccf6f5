import type { Model } from "@holdfast/sdk/protocol";

export interface DeclaredModel {
  /** The name as pushed. Map keys use it in lower case. */
  readonly name: string;
  readonly model: Model;
  /** Oldest first. */
  readonly changes: readonly SchemaChange[];
}

/** A push that renamed or hid fields of a model. Entries up to `upTo` use the earlier names. */
export interface SchemaChange {
  readonly upTo: number;
  /** New name by old name. */
  readonly renames: Readonly<Record<string, string>>;
}
