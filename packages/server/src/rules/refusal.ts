import type { Claim, ErrorCode, ErrorEnvelope, RequiredCapability } from "@holdfast/sdk/protocol";

/** A refused request, which the edge turns into an error envelope. `status` overrides the code's default status. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly param?: string;
  /** More specific than the table's sentence. Must not reveal other participants' data. */
  readonly message?: string;
  readonly status?: number;
  readonly blockedBy?: number;
  readonly requiredCapability?: RequiredCapability;
  /** The current holders of the record. */
  readonly claims?: readonly Claim[];
  readonly problems?: ErrorEnvelope["problems"];
}

export const refuse = (code: ErrorCode, rest: Omit<Refusal, "code"> = {}): Refusal => ({ code, ...rest });

export const isRefusal = (result: unknown): result is Refusal =>
  typeof result === "object" && result !== null && "code" in result;
