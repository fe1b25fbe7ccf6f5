import type { Body, EndpointName, QueryParameter, Reply } from "@holdfast/sdk/protocol";
import type { Answer } from "../../kernel/limits/answer-bytes.ts";
import type { Parameter } from "../../kernel/lists/rules/list-filter.ts";
import type { Refusal } from "../../kernel/refusal.ts";
import type { SpokenSchema } from "../../kernel/schema/flows/client-schemas.ts";
import type { Principal } from "../../kernel/tokens/rules/participant.ts";
import type { AttributionHeaders } from "./attribution.ts";

/** An authenticated, authorized request of the right shape. */
export interface ApiRequest<N extends EndpointName> {
  readonly principal: Principal;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body<N>;
  /** The size of the body as sent. */
  readonly bodyBytes: number;
  /** Counts the bytes of the response while it is made. Undefined for the operator. */
  readonly answer: Answer | undefined;
  readonly keyHeader: string | undefined;
  /** The headers that say why a write is made. Undefined: there are none, or it came on a stream. */
  readonly attribution?: AttributionHeaders | undefined;
  /** What the client says of its schema. */
  readonly schemaHeader: string | readonly string[] | undefined;
  /** What the client calls the fields. Undefined: it does not say which schema it has. */
  readonly spoken?: SpokenSchema | undefined;
  /** Fires when the client disconnects or the server stops. A long poll then responds at once. */
  signal(): AbortSignal;
  /** Whether the caller's token has ended since the request arrived. Long polls check it after waiting. */
  recheck(): Promise<Refusal | undefined>;
}

/** Query parameters as text: single ones, and lists of those that may be repeated. */
export interface Query {
  readonly one: Readonly<Record<string, string | undefined>>;
  readonly many: Readonly<Record<string, readonly string[] | undefined>>;
  /** The other parameters, unparsed, on routes that take filters. */
  readonly others: readonly Parameter[];
}

export type QueryTable = Readonly<Record<string, QueryParameter>>;

/** A handler's result: a value, serialized JSON, or a refusal. */
export type ApiResponse<N extends EndpointName> =
  | { readonly status?: number; readonly value: Reply<N> }
  | {
      readonly status?: number;
      readonly text: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly contentType?: string;
    }
  | { readonly refusal: Refusal /** For commits: the rejected receipt, as JSON. */; readonly receipt?: string };

export type Handler<N extends EndpointName> = (asked: ApiRequest<N>) => Promise<ApiResponse<N>>;
export type Handlers = { readonly [N in EndpointName]: Handler<N> };
