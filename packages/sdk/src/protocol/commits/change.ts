import type { JsonObject } from "../json.ts";
import type { Model } from "../schema/model-schema.ts";
import type { FieldChange, FieldChanges } from "./field-change.ts";

/** Marks what the SDK's `increment`, `add` and `remove` return. Global, because an app may load this package twice. */
export const CHANGE: unique symbol = Symbol.for("holdfast.change") as never;

/** A change that stands where an update would have a value of type T. */
export interface Change<T> {
  readonly [CHANGE]: Changing;
  /** Is never there. */
  readonly of?: T;
}

/** Brings the code for changes with it, so that apps without changes do not load it. */
export interface Changing {
  readonly change: FieldChange;
  readonly split: SplitPatch;
}

/** What an app gives to an update, as values and checked changes. Throws a `SyncError`. */
export type SplitPatch = (
  patch: Readonly<Record<string, unknown>>,
  record: { readonly name: string; readonly model: Model | undefined; readonly shown: JsonObject | undefined },
) => { readonly data: Readonly<Record<string, unknown>>; readonly changes: FieldChanges };
