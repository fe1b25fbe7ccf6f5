import type { ListDatasources } from "../../flows/datasources/list-datasources.ts";
import type { Handlers } from "../answer.ts";

export const datasourceRoutes = (list: ListDatasources): Pick<Handlers, "listDatasources"> => ({
  listDatasources: async ({ principal }) => ({
    value: { object: "list", data: await list(principal.organization), has_more: false, next_cursor: null },
  }),
});
