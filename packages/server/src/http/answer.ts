import type { Body, EndpointName, QueryParameter, Reply } from "@holdfast/sdk/protocol";
import type { Parameter } from "../rules/lists/list-filter.ts";
import type { Refusal } from "../rules/refusal.ts";
import type { Principal } from "../rules/tokens/participant.ts";

/** A request that is known, allowed, and of the right shape. */
export interface ApiRequest<N extends EndpointName> {
  readonly principal: Principal;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body<N>;
  /** As it was sent. */
  readonly bodyBytes: number;
  readonly keyHeader: string | undefined;
  /** Fires when the caller is gone, or the server stops: a long poll answers then. */
  signal(): AbortSignal;
  /** Whether the caller's token ended since the request came: asked by who waits. */
  recheck(): Promise<Refusal | undefined>;
}

/** Query parameters as text: single ones, and those that may be repeated as lists. */
export interface Query {
  readonly one: Readonly<Record<string, string | undefined>>;
  readonly many: Readonly<Record<string, readonly string[] | undefined>>;
  /** The others, as they were spelled, where the route takes filters. */
  readonly others: readonly Parameter[];
}

export type QueryTable = Readonly<Record<string, QueryParameter>>;

/** What a handler gives back: a value, JSON that is text already, or a refusal. */
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
