import type { EndpointSchema } from "../endpoint-schema.ts";
import { ListEnvelope } from "../lists/list.ts";
import type { EndpointName } from "../paths.ts";
import { Datasource } from "./datasource.ts";

/** The databases in which an organization's records live. */
export const datasourceEndpoints = {
  listDatasources: {
    summary: "List the datasources of both environments",
    audience: "secret_key",
    reply: { 200: ListEnvelope(Datasource) },
  },
} as const satisfies Partial<Record<EndpointName, EndpointSchema>>;
