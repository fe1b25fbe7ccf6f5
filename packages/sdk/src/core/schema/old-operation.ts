import type { Action } from "../../protocol/commits/operation.ts";
import type { JsonObject } from "../../protocol/json.ts";

/** An operation as an older version of the app wrote it, or as it is meant now. */
export interface OldOperation {
  readonly action: Action;
  readonly model: string;
  readonly id: string;
  readonly data?: JsonObject | undefined;
}

/** Says in the words of the present schema what an operation of an older one means. Nothing: it has no meaning any more. */
export type Upcast = (operation: OldOperation) => OldOperation | undefined;
