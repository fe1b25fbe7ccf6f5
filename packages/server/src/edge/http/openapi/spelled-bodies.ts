import { OPTIONAL, STALE_ALIASES } from "../dialect.ts";
import { orNull, type Plain, refTo } from "./json-schema.ts";

const WRITE_BODIES: ReadonlySet<string> = new Set([
  "CreateBody",
  "UpdateBody",
  "BareWriteBody",
  "CommitBody",
  "Operation",
  "Read",
]);

/** Adds the spellings that callers may use but inner code does not see: aliases, and null for absent. */
export function asSpelled(name: string, schema: Plain): Plain {
  if (name === "OnStale")
    return {
      ...schema,
      type: ["string", "null"],
      enum: [...(schema.enum as string[]), ...Object.keys(STALE_ALIASES), null],
    };
  if (name === "ErrorEnvelope")
    return withProperty(schema, "receipt", {
      ...refTo("CommitReceipt"),
      description: "The receipt of a refused commit, with `status` `rejected`.",
    });
  if (CLAIM_BODIES.has(name)) return nullable(schema);
  return WRITE_BODIES.has(name) ? asWritten(schema) : schema;
}

/** In these bodies every key may be null for absent. */
const CLAIM_BODIES: ReadonlySet<string> = new Set(["ClaimBody", "ClaimTargetBody", "ClaimRenewBody"]);

const nullable = (schema: Plain): Plain => {
  const required = new Set(schema.required as string[] | undefined);
  const properties = Object.entries(schema.properties as Record<string, Plain>).map(([key, property]) => [
    key,
    required.has(key) ? property : orNull(property),
  ]);
  return { ...schema, properties: Object.fromEntries(properties) };
};

function asWritten(schema: Plain): Plain {
  const required = new Set(schema.required as string[] | undefined);
  const properties = Object.entries(schema.properties as Record<string, Plain>).map(([key, property]) => [
    key,
    // The policy's schema already accepts null.
    OPTIONAL.has(key) && !required.has(key) && key !== "onStale" ? orNull(property) : property,
  ]);
  const spelled = { ...schema, properties: Object.fromEntries(properties) as Record<string, Plain> };
  return "claim" in spelled.properties
    ? withProperty(spelled, "intent", { type: ["string", "null"], description: "The same as `claim`." })
    : spelled;
}

const withProperty = (schema: Plain, name: string, property: Plain): Plain => ({
  ...schema,
  properties: { ...(schema.properties as Plain), [name]: property },
});
