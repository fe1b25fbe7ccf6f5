import type { Model } from "@holdfast/sdk/protocol";

export interface DeclaredModel {
  /** The name as pushed; everything that keys on a model uses it in lower case. */
  readonly name: string;
  readonly model: Model;
  /** Oldest first. */
  readonly changes: readonly SchemaChange[];
}

/** A push that renamed or hid fields of a model: entries up to that position were written in other words. */
export interface SchemaChange {
  readonly upTo: number;
  /** New name by old name. */
  readonly renames: Readonly<Record<string, string>>;
}
