import type { EndpointSchema } from "../endpoint-schema.ts";
import type { EndpointName } from "../paths.ts";
import { SchemaPush, SchemaPushed, SchemaRead } from "./model-schema.ts";

/** The schema of a tenant. */
export const schemaEndpoints = {
  pushSchema: {
    summary: "Push the models of this tenant",
    audience: "secret_key",
    body: SchemaPush,
    reply: { 200: SchemaPushed, 201: SchemaPushed },
    errors: ["invalid_schema", "schema_incompatible", "schema_busy"],
  },
  readSchema: {
    summary: "Read the pushed models",
    audience: "token",
    reply: { 200: SchemaRead },
    errors: ["schema_not_found"],
  },
} as const satisfies Partial<Record<EndpointName, EndpointSchema>>;
