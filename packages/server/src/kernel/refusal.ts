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
  /** The option of a field that a value breaks. */
  readonly rule?: string;
  /** The fields whose values have to be unique together. */
  readonly fields?: readonly string[];
  /** Records that are in the way, of those that the caller may read. */
  readonly records?: ErrorEnvelope["records"];
  /** What the database says about a write that a table refused. */
  readonly source?: ErrorEnvelope["source"];
}

export const refuse = (code: ErrorCode, rest: Omit<Refusal, "code"> = {}): Refusal => ({ code, ...rest });

/** For people who do not see a response. */
export const sentenceOf = ({ code, message = code, param }: Refusal): string =>
  param === undefined ? message : `${param}: ${message}`;

export const isRefusal = (result: unknown): result is Refusal =>
  typeof result === "object" && result !== null && "code" in result;
