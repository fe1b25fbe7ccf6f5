import type { Handlers } from "../../edge/http/answer.ts";
import { isRefusal, refuse } from "../../kernel/refusal.ts";
import type { DatasourceFlows } from "./flows/datasource-flows.ts";

type DatasourceHandlers = Pick<
  Handlers,
  "createDatasource" | "listDatasources" | "readDatasource" | "deleteDatasource" | "rotateDatasourceKey"
>;

/** Where the tenants of an organization live. */
export const datasourceRoutes = (flows: DatasourceFlows): DatasourceHandlers => ({
  createDatasource: async ({ principal, body }) => {
    const made = await flows.create(principal, body);
    return isRefusal(made) ? { refusal: made } : { status: 201, value: made };
  },
  listDatasources: async ({ principal }) => ({
    value: { object: "list", data: await flows.list(principal), has_more: false, next_cursor: null },
  }),
  readDatasource: async ({ principal, params: { id = "" } }) => {
    const found = await flows.read(principal, id);
    return found ? { value: found } : { refusal: refuse("datasource_not_found") };
  },
  deleteDatasource: async ({ principal, params: { id = "" } }) => {
    const removed = await flows.remove(principal, id);
    return isRefusal(removed) ? { refusal: removed } : { value: { object: "datasource", id, deleted: true } };
  },
  rotateDatasourceKey: async ({ principal, params: { id = "" }, body }) => {
    const rotated = await flows.rotate(principal, id, body);
    return isRefusal(rotated) ? { refusal: rotated } : { status: 201, value: rotated };
  },
});
