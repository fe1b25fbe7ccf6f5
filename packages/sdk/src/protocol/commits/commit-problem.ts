import { clientLimits as limits } from "../client-limits.ts";
import type { InvalidCode } from "../errors/error-codes.ts";
import type { JsonObject } from "../json.ts";
import { isPlainObject, jsonProblem } from "../json-problem.ts";
import { isRecordId } from "../record-id.ts";
import type { Model } from "../schema/model-schema.ts";
import { commitLimits } from "./commit-limits.ts";

/*
 * What can be wrong with a commit whatever the records are. The client asks before it queues a write, and the server
 * asks again, so that no write is queued that would be refused for it days later.
 */

export interface CommitProblem {
  readonly code: InvalidCode | "request_too_large" | "record_too_large";
  readonly param: string;
  readonly message: string;
}

/** The names in a commit: its ids and premises. */
export function commitProblem({
  operations,
  reads = [],
}: {
  readonly operations: readonly { readonly id?: unknown }[];
  readonly reads?: readonly unknown[] | undefined;
}): CommitProblem | undefined {
  const oddId = operations.findIndex(({ id }) => id !== undefined && !isRecordId(id));
  if (oddId >= 0) return problem("invalid_id", `operations[${oddId}].id`, INVALID_ID);
  for (const [index, read] of reads.entries()) {
    const found = premiseProblem(read, `reads[${index}]`);
    if (found) return found;
  }
  return undefined;
}

const PREMISE_KEYS = ["model", "id", "group", "readAt", "fields", "onStale"];
const ON_STALE: readonly unknown[] = ["reject", "overwrite", "notify", undefined];

/** A premise is on a record, with or without fields, or on a group. */
function premiseProblem(read: unknown, param: string): CommitProblem | undefined {
  if (!isPlainObject(read)) return problem("invalid_type", param, "A premise must be an object.");
  const unknown = Object.keys(read).find((key) => !PREMISE_KEYS.includes(key));
  if (unknown)
    return problem(
      "unknown_field",
      `${param}.${unknown}`,
      `A premise has an unknown key. Known keys: ${PREMISE_KEYS.join(", ")}.`,
    );
  const { model, id, group, readAt = 0, fields, onStale } = read;
  const odd = [model, id, group, ...(Array.isArray(fields) ? fields : [])].find(
    (text) => typeof text === "string" && jsonProblem(text),
  );
  if (odd !== undefined) return problem("invalid_value", param, `A name in a premise ${jsonProblem(odd)?.what}.`);
  if (!(Number.isSafeInteger(readAt) && (readAt as number) >= 0))
    return problem("invalid_value", `${param}.readAt`, "readAt must be a position in the log: a whole number from 0.");
  if (!ON_STALE.includes(onStale))
    return problem("invalid_value", `${param}.onStale`, "onStale must be reject, overwrite or notify.");
  if (fields !== undefined && !(Array.isArray(fields) && fields.every((field) => typeof field === "string")))
    return problem("invalid_type", `${param}.fields`, "The fields of a premise must be a list of names.");
  if (group !== undefined) {
    if (model !== undefined || id !== undefined)
      return problem("invalid_value", `${param}.group`, "A premise must name a record or a group, not both.");
    if (fields !== undefined)
      return problem("invalid_value", `${param}.fields`, "A premise on a group must not have fields.");
    return isSyncGroup(group) ? undefined : problem("invalid_sync_group", `${param}.group`, INVALID_GROUP);
  }
  const missing = typeof model !== "string" ? "model" : id === undefined && "id";
  if (missing) return problem("missing_field", `${param}.${missing}`, "A premise needs a model and an id, or a group.");
  return isRecordId(id) ? undefined : problem("invalid_id", `${param}.id`, INVALID_ID);
}

/** The longest that the client adds to a commit when it sends it. */
const LONGEST_NAMES = {
  clientTxId: "x".repeat(limits.idLength),
  clientId: "x".repeat(limits.clientIdLength),
  logId: "x".repeat(limits.idLength),
};

/** The size of a commit, as the only one of a bulk. `bytesOf` counts the bytes of a text in UTF-8. */
export function commitSizeProblem(
  {
    operations,
    reads,
    attribution,
  }: { readonly operations: readonly object[]; readonly reads: readonly object[]; readonly attribution?: object },
  bytesOf: (text: string) => number,
): CommitProblem | undefined {
  const placed = (all: readonly object[]) => all.map((one) => ({ ...one, readAt: Number.MAX_SAFE_INTEGER }));
  const body = {
    commits: [{ operations: placed(operations), reads: placed(reads), ...attribution, ...LONGEST_NAMES }],
  };
  const text = JSON.stringify(body);
  // A value and its comma take at least two bytes, so shorter texts cannot exceed the limit.
  if (text.length > 2 * commitLimits.jsonValues && valuesIn(body) > commitLimits.jsonValues)
    return problem(
      "too_many_values",
      "operations",
      `A commit can have up to about ${commitLimits.jsonValues} JSON values. Make several writes.`,
    );
  // A code unit takes at most three bytes.
  if (3 * text.length > commitLimits.batchBodyBytes && bytesOf(text) > commitLimits.batchBodyBytes)
    return problem(
      "request_too_large",
      "operations",
      `A commit can have up to about ${commitLimits.batchBodyBytes} bytes of JSON. Make several writes.`,
    );
  return undefined;
}

/** The size of a record, or of what is certain to be in it. `bytesOf` counts the bytes of a text in UTF-8. */
export function recordSizeProblem(
  text: string,
  most: number,
  bytesOf: (text: string) => number,
): CommitProblem | undefined {
  const bytes = bytesOf(text);
  return bytes > most
    ? problem("record_too_large", "data", `The record would have ${bytes} bytes of JSON (the limit is ${most}).`)
    : undefined;
}

const valuesIn = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce((sum: number, each) => sum + valuesIn(each), 1)
    : 1;

// `\s` does not include NUL, which no database stores. The length counts characters, not code units.
const GROUP = /^[a-z][a-z0-9_]*:[^\s\0]{1,200}$/u;

export const isSyncGroup = (group: unknown): group is string => typeof group === "string" && GROUP.test(group);

/** Whether a field that names a group has a value that cannot be the name of one. */
export function groupProblem({ groups = [] }: Model, values: JsonObject): CommitProblem | undefined {
  for (const { kind, from } of groups) {
    // A field may have the name of an object method, such as `toString`.
    const value = Object.hasOwn(values, from) ? values[from] : undefined;
    if (value !== undefined && value !== null && !isSyncGroup(`${kind}:${value}`))
      return problem(
        "invalid_sync_group",
        `data.${from}`,
        `"${from}" names a sync group: it must be 1 to 200 characters without spaces.`,
      );
  }
  return undefined;
}

const INVALID_ID = "An id must be 1 to 255 characters of A-Z, a-z, 0-9 and . _ : ~ - and must not be . or ..";
const INVALID_GROUP = "A sync group must have the form <kind>:<id>.";

const problem = (code: CommitProblem["code"], param: string, message: string): CommitProblem => ({
  code,
  param,
  message,
});
