import type { SchemaRead } from "@holdfast/sdk/protocol";
import type pg from "pg";
import { readHead } from "../../db/heads.ts";
import { readSchema } from "../../db/model-schemas.ts";
import { pushSchema } from "../../flows/push-schema.ts";
import { refuse } from "../../rules/refusal.ts";
import { isRefusal } from "../../wire/json-body.ts";
import type { Handlers } from "../answer.ts";

export function schemaRoutes(
  pool: pg.Pool,
  pushed: (world: number) => void,
): Pick<Handlers, "pushSchema" | "readSchema"> {
  return {
    pushSchema: async ({ principal, body }) => {
      const result = await pushSchema(pool, principal.world, body as Parameters<typeof pushSchema>[2]);
      if (isRefusal(result)) return { refusal: result };
      if (!result.unchanged) pushed(principal.world);
      return { status: result.unchanged ? 200 : 201, value: result };
    },
    readSchema: async ({ principal }) => {
      const { schemaVersion } = await readHead(pool, principal.world);
      const schema = await readSchema(pool, principal.world, schemaVersion);
      if (!schema) return { refusal: refuse("schema_not_found") };
      const value: SchemaRead = { object: "schema", version: schema.version, hash: schema.hash, models: schema.models };
      return { value: value as never };
    },
  };
}
