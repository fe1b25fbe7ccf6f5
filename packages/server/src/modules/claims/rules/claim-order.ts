import type { JsonObject } from "@holdfast/sdk/protocol";
import type { Principal } from "../../../kernel/tokens/rules/participant.ts";
import type { ClaimAttribution } from "./claim.ts";

/** A request, or a timer's job, about the claims of one record. Model names are in lower case. */
export type ClaimOrder =
  | AcquireClaim
  | {
      readonly kind: "renew";
      readonly principal: Principal;
      readonly model: string;
      readonly record: string;
      readonly claimId: string;
      /** Undefined: the same duration as before. */
      readonly ttlMs: number | undefined;
    }
  | {
      readonly kind: "release";
      readonly principal: Principal;
      readonly model: string;
      readonly record: string;
      /** Undefined: all claims of the caller on the record. */
      readonly claimId: string | undefined;
      /** Undefined: the claims of all the caller's devices. */
      readonly clientId: string | undefined;
    }
  | {
      readonly kind: "reorder";
      readonly principal: Principal;
      readonly model: string;
      readonly record: string;
      readonly order: readonly string[];
    }
  /** Started by a timer, not by a request: a lease may be over, or silent waiters have shown life. */
  | {
      readonly kind: "advance";
      readonly tenant: number;
      readonly model: string;
      readonly record: string;
      /** Ids of waiting claims whose waiter has shown life. */
      readonly alive?: readonly string[];
    };

export interface AcquireClaim {
  readonly kind: "acquire";
  readonly principal: Principal;
  /** The id for the claim if it is new. */
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
  readonly attribution?: ClaimAttribution | undefined;
  readonly clientId: string | undefined;
}

export const tenantOfOrder = (order: ClaimOrder): number =>
  order.kind === "advance" ? order.tenant : order.principal.tenant;
