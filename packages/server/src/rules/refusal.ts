import type { Claim, ErrorCode, ErrorEnvelope, RequiredCapability } from "@holdfast/sdk/protocol";

/** A clear no: what the edge turns into an error envelope. `status` overrides the code's own where one code has two. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly param?: string;
  /** Says more than the table's sentence, never who else is there. */
  readonly message?: string;
  readonly status?: number;
  readonly blockedBy?: number;
  readonly requiredCapability?: RequiredCapability;
  /** Who holds the record now. */
  readonly claims?: readonly Claim[];
  readonly problems?: ErrorEnvelope["problems"];
}

export const refuse = (code: ErrorCode, rest: Omit<Refusal, "code"> = {}): Refusal => ({ code, ...rest });

export const isRefusal = (result: unknown): result is Refusal =>
  typeof result === "object" && result !== null && "code" in result;
