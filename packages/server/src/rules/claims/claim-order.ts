import type { JsonObject } from "@holdfast/sdk/protocol";
import type { Principal } from "../tokens/participant.ts";

/** What somebody, or time, wants of the claims of one record. Model names in lower case. */
export type ClaimOrder =
  | AcquireClaim
  | {
      readonly kind: "renew";
      readonly principal: Principal;
      readonly model: string;
      readonly record: string;
      readonly claimId: string;
      /** Undefined: what it was claimed with. */
      readonly ttlMs: number | undefined;
    }
  | {
      readonly kind: "release";
      readonly principal: Principal;
      readonly model: string;
      readonly record: string;
      /** Undefined: every claim that the caller has on the record. */
      readonly claimId: string | undefined;
      /** Undefined: whichever of the caller's devices they are for. */
      readonly clientId: string | undefined;
    }
  | {
      readonly kind: "reorder";
      readonly principal: Principal;
      readonly model: string;
      readonly record: string;
      readonly order: readonly string[];
    }
  /** Nobody asks: a lease may be over, or waiters be heard of again. */
  | {
      readonly kind: "settle";
      readonly tenant: number;
      readonly model: string;
      readonly record: string;
      /** Claims that wait, and showed life. */
      readonly alive?: readonly string[];
    };

export interface AcquireClaim {
  readonly kind: "acquire";
  readonly principal: Principal;
  /** The id that it gets when it is a new one. */
  readonly claimId: string;
  readonly model: string;
  readonly record: string;
  readonly field: string | null;
  readonly ttlMs: number | undefined;
  readonly queue: boolean;
  readonly preempt: boolean;
  readonly action: string | undefined;
  readonly description: string | undefined;
  readonly meta: JsonObject | undefined;
  readonly clientId: string | undefined;
}

export const tenantOfOrder = (order: ClaimOrder): number =>
  order.kind === "settle" ? order.tenant : order.principal.tenant;
