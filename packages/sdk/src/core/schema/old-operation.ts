import type { Action } from "../../protocol/commits/action.ts";
import type { FieldChanges } from "../../protocol/commits/field-change.ts";
import type { JsonObject } from "../../protocol/json.ts";

/** An operation of an older version of the app, before or after its upcast. */
export interface OldOperation {
  readonly action: Action;
  readonly model: string;
  readonly id: string;
  readonly data?: JsonObject | undefined;
  /** Changes made with `increment`, `add` and `remove`. */
  readonly changes?: FieldChanges | undefined;
}

/** Converts an operation of an older schema to the present one. Undefined: the operation has no meaning any more. */
export type Upcast = (operation: OldOperation) => OldOperation | undefined;
