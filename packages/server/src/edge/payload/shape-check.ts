import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { TSchema } from "typebox";

import { type Refusal, refuse } from "../../kernel/refusal.ts";

// Strict: no coercion, defaults or removal of keys. Stops at the first error.
const ajv = new Ajv({
  allErrors: false,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  strict: false,
  validateFormats: false,
  // Errors have the schema that names the known keys.
  verbose: true,
});

/** Compiles a check of a body's shape, from our own schemas only, never from a caller's. */
export function shapeCheck(schema: TSchema): (body: unknown) => Refusal | undefined {
  const validate: ValidateFunction = ajv.compile(withSafeIntegers(schema));
  return (body) => (validate(body) ? undefined : toRefusal(validate.errors?.at(-1)));
}

function toRefusal(error: ErrorObject | undefined): Refusal {
  if (!error) return refuse("invalid_body");
  const path = paramOf(error.instancePath);
  if (path === "ttl") return refuse("invalid_ttl", { param: path });
  switch (error.keyword) {
    case "additionalProperties":
      return unknownKey(join(path, String(error.params.additionalProperty)), error.parentSchema);
    case "required":
      return refuse("missing_field", { param: join(path, String(error.params.missingProperty)) });
    case "minItems":
    case "maxItems":
      return refuse(COUNTED.has(path) ? "too_many_operations" : "invalid_value", { param: path });
    case "type":
      return path === ""
        ? refuse("invalid_body", { message: "The body must be a JSON object." })
        : refuse("invalid_type", { param: path, message: `"${path}" must be of type ${error.params.type}.` });
    default:
      return refuse("invalid_value", {
        ...(path !== "" && { param: path }),
        message: `"${path}" ${error.keyword === "anyOf" ? oneOf(error.schema) : error.message}.`,
      });
  }
}

/** Lists the values if these are all that is allowed. */
function oneOf(shapes: unknown): string {
  const values = (shapes as readonly { readonly const?: unknown }[]).map((shape) => shape.const);
  if (values.includes(undefined)) return "has a value that is not allowed";
  return `must be one of ${values.map((value) => JSON.stringify(value)).join(", ")}`;
}

/** Not a field of the pushed schema, which the code's own sentence is about. */
function unknownKey(param: string, schema: ErrorObject["parentSchema"]): Refusal {
  const known = Object.keys((schema?.properties as object | undefined) ?? {});
  const takes = known.length > 0 ? ` Known keys: ${known.join(", ")}.` : "";
  return refuse("unknown_field", { param, message: `The request has a key that it cannot have.${takes}` });
}

/** Whole numbers beyond are doubles, and no position or count. */
function withSafeIntegers<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(withSafeIntegers) as T;
  if (typeof schema !== "object" || schema === null) return schema;
  const within = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withSafeIntegers(value)]));
  if (within.type !== "integer") return within as T;
  return { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, ...within } as T;
}

const COUNTED = new Set(["operations", "reads", "commits"]);

const join = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

/** `/operations/6/data` → `operations[6].data` */
const paramOf = (pointer: string): string =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replace(/~1/g, "/").replace(/~0/g, "~"))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : join(path, part)), "");
