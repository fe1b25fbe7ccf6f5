/**
 * The API accepts several spellings for some keys, and null for an absent value. Request bodies are normalized here, at
 * the edge, so that inner code sees one spelling. Unknown keys stay, and the shape check refuses them.
 */
type Body = Record<string, unknown>;

/** Aliases of a conflict policy → its internal name. */
export const STALE_ALIASES: Readonly<Record<string, string>> = { force: "overwrite", flag: "notify", merge: "notify" };
/** Keys of an envelope that may be null for "absent". */
export const OPTIONAL: ReadonlySet<string> = new Set([
  "claim",
  "claimId",
  "fenceToken",
  "onStale",
  "readAt",
  "logId",
  "idempotencyKey",
  "clientTxId",
  "clientId",
  "transactionId",
  "reads",
  "fields",
  "group",
  "id",
  "data",
  "changes",
]);

/** Aliases of `claim`, the claim that a write is bound to. */
const CLAIM_ALIASES: ReadonlySet<string> = new Set(["intent", "claimId"]);

const isGiven = (body: Body, key: string): boolean => Object.hasOwn(body, key) && body[key] !== null;

/**
 * Normalizes any write envelope: `intent` and `claimId` become `claim`, `force` becomes `overwrite`, null becomes
 * absent.
 */
export function translateWrite(body: unknown): unknown {
  if (!isObject(body)) return body;
  const out: Body = {};
  for (const [key, value] of Object.entries(body)) {
    const isAlias = CLAIM_ALIASES.has(key) && !isGiven(body, "claim");
    const name = isAlias ? "claim" : key;
    if (value === null && OPTIONAL.has(name)) continue;
    out[name] =
      name === "onStale" && typeof value === "string" && Object.hasOwn(STALE_ALIASES, value)
        ? STALE_ALIASES[value]
        : value;
  }
  return out;
}

/** Normalizes a batch with its operations and reads. A claim of the batch applies to each operation without one. */
export function translateCommit(body: unknown): unknown {
  const out = translateWrite(body);
  if (!isObject(out)) return out;
  const { claim, ...rest } = out;
  if (Array.isArray(rest.operations))
    rest.operations = rest.operations.map((operation) => translateOperation(operation, claim));
  else if (claim !== undefined) rest.claim = claim;
  if (Array.isArray(rest.reads)) rest.reads = rest.reads.map(translateRead);
  return rest;
}

function translateOperation(operation: unknown, claim: unknown): unknown {
  const out = translateWrite(operation);
  if (!isObject(out)) return out;
  if (typeof out.type === "string" && !Object.hasOwn(out, "action")) {
    out.action = out.type.toLowerCase();
    delete out.type;
  }
  if (Object.hasOwn(out, "input") && !Object.hasOwn(out, "data")) {
    out.data = out.input;
    delete out.input;
  }
  if (claim !== undefined && out.claim === undefined) out.claim = claim;
  return out;
}

function translateRead(read: unknown): unknown {
  const out = translateWrite(read);
  if (isObject(out) && out.model === null) delete out.model;
  return out;
}

/** Drops null values from a body in which any key may be null, such as a claim request. */
export function withoutNulls(body: unknown): unknown {
  if (!isObject(body)) return body;
  const out = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
  return isObject(out.target) ? { ...out, target: withoutNulls(out.target) } : out;
}

export const isObject = (value: unknown): value is Body =>
  typeof value === "object" && value !== null && !Array.isArray(value);
