import { invalid, odd } from "../../errors.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";
import { jsonProblem, levelsOfData } from "../../protocol/json-problem.ts";
import { isRecordId } from "../../protocol/record-id.ts";
import { checkObject } from "../lists/query-error.ts";
import { copyOf } from "../lists/shown-rows.ts";

/** An object of the app, as `jsonCopy` gives it. */
export function objectCopy(data: unknown, path: string): JsonObject {
  checkObject(data, path);
  return jsonCopy(data as JsonObject, path);
}

/**
 * Copies data of the app and checks that it is valid JSON. Writes are stored as text, and the app may change its own
 * afterwards. Values that would change or vanish in JSON (undefined, NaN, a Date, a function) are refused here, where the
 * mistake is made.
 */
export function jsonCopy<T extends Json>(value: T, path: string): T {
  const problem = jsonProblem(value, path, levelsOfData);
  if (problem) throw odd(problem.path, `${problem.path} ${problem.what}.`);
  return copyOf(value);
}

export function checkId(id: unknown): string {
  if (isRecordId(id)) return id;
  throw invalid(
    "invalid_id",
    "An id must be 1 to 255 characters of A-Z, a-z, 0-9 and . _ : ~ - and must not be . or ..",
    "id",
  );
}

/** Leaves room for the suffix that a replaced log adds to a name. */
const TX_ID = /^[\x21-\x7e]{1,200}$/;

export function checkTxId(clientTxId: unknown): string {
  if (typeof clientTxId === "string" && TX_ID.test(clientTxId)) return clientTxId;
  const message = "clientTxId must be 1 to 200 visible ASCII characters.";
  throw invalid("invalid_idempotency_key", message, "clientTxId");
}
