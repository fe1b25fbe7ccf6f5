import type { SchemaPush } from "@holdfast/sdk/protocol";
import { schemaRoutes } from "../edge/http/routes/schemas.ts";
import { createLimiter } from "../kernel/limits/limiter.ts";
import type { Part } from "../kernel/part.ts";
import { pushSchema } from "../kernel/schema/flows/push-schema.ts";
import { readSchema } from "../kernel/schema/flows/read-schema.ts";
import type { DatabaseContext } from "./context.ts";
import type { Hubs } from "./hubs.ts";
import type { Maintenance } from "./maintenance.ts";

/** Pushes that prepare records. Each uses a connection for the whole time. */
const PREPARING_PUSHES = { most: 2, mostPerKey: 1 };

export interface Schemas extends Part {
  readonly routes: ReturnType<typeof schemaRoutes>;
}

/** Pushes of schemas, which are published here and to other processes. */
export function openSchemas(ctx: DatabaseContext, { hub }: Hubs, { schemaChanged }: Maintenance): Schemas {
  const { pool, schemas, hooks, wake, stopping } = ctx;
  const preparing = createLimiter(PREPARING_PUSHES);
  const push = async (tenant: number, schema: SchemaPush) => {
    const result = await pushSchema(pool, hooks, tenant, schema, { preparing, stopping });
    schemaChanged();
    hub.schemaChanged(tenant);
    wake.schema(tenant);
    return result;
  };
  return {
    routes: schemaRoutes({ push, read: (tenant) => readSchema(pool, tenant) }),
    forget: schemas.forget,
  };
}
