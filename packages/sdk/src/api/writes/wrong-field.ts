import { invalidFailure } from "../../core/queue/failure.ts";
import { SyncError } from "../../errors.ts";
import type { Json } from "../../protocol/json.ts";

/** What is wrong with a field of a write. */
export const wrong = (...at: Parameters<typeof invalidFailure>): SyncError => new SyncError(invalidFailure(...at));

/** A value, for people. */
export const got = (value: Json): string =>
  value === null || typeof value === "string"
    ? JSON.stringify(value)?.slice(0, 40)
    : Array.isArray(value)
      ? "an array"
      : typeof value;
