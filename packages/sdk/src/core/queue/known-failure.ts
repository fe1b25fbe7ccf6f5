import { type ErrorCode, errorCodes } from "../../protocol/errors/error-codes.ts";
import type { Failure } from "./failure.ts";

/** Creates a failure with one of the server's error codes, even if the client detected it. */
export function knownFailure(code: ErrorCode, message: string, more: Partial<Failure> = {}): Failure {
  return { code, ...errorCodes[code], message, ...more };
}
