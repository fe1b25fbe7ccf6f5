import type { SchemaPush, SchemaPushed, SchemaRead } from "@holdfast/sdk/protocol";
import { isRefusal, type Refusal } from "../../../kernel/refusal.ts";
import type { Handlers } from "../answer.ts";

export interface SchemaFlows {
  push(tenant: number, schema: SchemaPush): Promise<SchemaPushed | Refusal>;
  read(tenant: number): Promise<SchemaRead | Refusal>;
}

export function schemaRoutes({ push, read }: SchemaFlows): Pick<Handlers, "pushSchema" | "readSchema"> {
  return {
    pushSchema: async ({ principal, body }) => {
      const result = await push(principal.tenant, body as SchemaPush);
      return isRefusal(result) ? { refusal: result } : { status: result.unchanged ? 200 : 201, value: result };
    },
    readSchema: async ({ principal }) => {
      const result = await read(principal.tenant);
      return isRefusal(result) ? { refusal: result } : { text: JSON.stringify(result) };
    },
  };
}
