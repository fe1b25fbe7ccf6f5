import type { TSchema } from "typebox";
import type { ErrorCode } from "./errors/error-codes.ts";

/** Who may call: a token of the organization, a secret key only, or the operator. */
export type Audience = "token" | "secret_key" | "operator";

export interface EndpointSchema {
  readonly summary: string;
  readonly audience: Audience;
  /** JSON body; `bodyOptional` when the route also answers without one. */
  readonly body?: TSchema;
  readonly bodyOptional?: true;
  /** The route judges the shape of its body itself, and says where in it something is wrong. */
  readonly bodyJudged?: true;
  /** Query parameters as text, each with a pattern; `repeatable` ones may come several times. */
  readonly query?: Readonly<Record<string, QueryParameter>>;
  /** Every other parameter is a filter by a field of the model: `filter[<field>]`, `filter[<field>][gt]`, `<field>`. */
  readonly filters?: true;
  /** Larger bodies than `limits.bodyBytes`. */
  readonly batchBody?: true;
  readonly reply: Readonly<Record<number, TSchema>>;
  /** Codes that it answers with, beyond those of every route like it. */
  readonly errors?: readonly ErrorCode[];
  /** Content type when it is not JSON. */
  readonly produces?: "application/x-ndjson";
}

export interface QueryParameter {
  readonly description: string;
  readonly repeatable?: true;
  /** What it may be, of each one that comes; absent: any text. It is sent as text all the same. */
  readonly schema?: TSchema;
}
