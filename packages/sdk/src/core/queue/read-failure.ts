import type { CommitReceipt } from "../../protocol/commits/commit.ts";
import type { RequiredCapability, SourceRefusal } from "../../protocol/errors/error.ts";
import { type ErrorType, errorCodes, isErrorCode, type Remedy } from "../../protocol/errors/error-codes.ts";
import type { Failure } from "./failure.ts";

/** Parses an error body without trusting its shape. Undefined: it is not an error body of this server. */
export function readFailure(value: unknown, status: number): Failure | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const body = value as Record<string, unknown>;
  if (typeof body.code !== "string" || typeof body.type !== "string") return undefined;
  const text = (key: string) => (typeof body[key] === "string" ? (body[key] as string) : undefined);
  const code = body.code;
  return {
    code,
    type: body.type as ErrorType,
    then: isErrorCode(code) ? errorCodes[code].then : remedyOf(status),
    message: text("message") ?? code,
    status,
    param: text("param"),
    rule: text("rule"),
    docUrl: text("doc_url"),
    requestId: text("request_id"),
    requiredCapability: body.requiredCapability as RequiredCapability | undefined,
    receipt: body.receipt as CommitReceipt | undefined,
    claims: listOf(body.claims),
    fields: listOf(body.fields),
    records: listOf(body.records),
    source: body.source as SourceRefusal | undefined,
  };
}

const listOf = <T>(value: unknown): readonly T[] | undefined => (Array.isArray(value) ? value : undefined);

/** Derives the remedy from the status, for codes of a newer server. */
function remedyOf(status: number): Remedy {
  if (status === 401) return "sign-in";
  if (status === 408 || status === 425 || status >= 500) return "retry";
  if (status === 429) return "wait";
  return "fix";
}
