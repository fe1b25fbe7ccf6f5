import { invalidFailure } from "../../core/queue/failure.ts";
import { SyncError } from "../../errors.ts";
import { clientLimits as limits } from "../../protocol/client-limits.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";

/**
 * Copies data of the app and checks that it is valid JSON. Writes are stored as text. Values that would change or
 * vanish in JSON (undefined, NaN, a Date, a function) are refused here, where the mistake is made.
 */
export function jsonCopy(data: unknown, path: string): JsonObject {
  if (!isPlainObject(data)) throw refused(path, "must be an object");
  return copyObject(data, path, 1);
}

function copyObject(data: Record<string, unknown>, path: string, depth: number): JsonObject {
  if (depth > limits.jsonDepth) throw refused(path, `is nested deeper than ${limits.jsonDepth} levels`);
  const copy: Record<string, Json> = {};
  for (const [key, value] of Object.entries(data)) {
    if (key === "__proto__") throw refused(`${path}.${key}`, "is a key that is not allowed");
    copy[key] = copyValue(value, `${path}.${key}`, depth);
  }
  return copy;
}

function copyValue(value: unknown, path: string, depth: number): Json {
  switch (typeof value) {
    case "string":
      if (!isWellFormed(value)) throw refused(path, "has a NUL character or half of a surrogate pair");
      return value;
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value)) throw refused(path, `is ${value}, which JSON cannot represent`);
      // JSON has no -0.
      return value + 0;
    case "object": {
      if (value === null) return null;
      if (Array.isArray(value)) {
        if (depth >= limits.jsonDepth) throw refused(path, `is nested deeper than ${limits.jsonDepth} levels`);
        return Array.from(value, (item: unknown, i) => copyValue(item, `${path}[${i}]`, depth + 1));
      }
      if (value instanceof Date) throw refused(path, "is a Date; use its toISOString()");
      if (!isPlainObject(value)) throw refused(path, "is an instance of a class; use a plain object");
      return copyObject(value, path, depth + 1);
    }
    case "undefined":
      throw refused(path, "is undefined; omit the field, or use null");
    case "bigint":
    case "function":
    case "symbol":
      throw refused(path, `is a ${typeof value}, which JSON cannot represent`);
  }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  // A row that the client gave has a prototype of its own, which says that it is a plain object.
  return prototype === null || (Object.hasOwn(prototype, "constructor") && prototype.constructor === Object);
}

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const isWellFormed = (text: string) => !text.includes("\u0000") && !LONE_SURROGATE.test(text);

const RECORD_ID = new RegExp(`^[A-Za-z0-9_.:~-]{1,${limits.idLength}}$`);

export function checkId(id: unknown): string {
  if (typeof id === "string" && RECORD_ID.test(id) && id !== "." && id !== "..") return id;
  throw new SyncError(invalidFailure("invalid_id", "An id must be 1 to 255 of A-Z, a-z, 0-9 and . _ : ~ -.", "id"));
}

/** Leaves room for the suffix that a replaced log adds to a name. */
const TX_ID = /^[\x21-\x7e]{1,200}$/;

export function checkTxId(clientTxId: unknown): string {
  if (typeof clientTxId === "string" && TX_ID.test(clientTxId)) return clientTxId;
  const message = "clientTxId must be 1 to 200 visible ASCII characters.";
  throw new SyncError(invalidFailure("invalid_idempotency_key", message, "clientTxId"));
}

const refused = (path: string, what: string) =>
  new SyncError(invalidFailure("invalid_value", `${path} ${what}.`, path));
