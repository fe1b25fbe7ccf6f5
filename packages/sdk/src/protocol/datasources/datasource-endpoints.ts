import type { EndpointSchema } from "../endpoint-schema.ts";
import { ListEnvelope } from "../lists/list.ts";
import type { EndpointName } from "../paths.ts";
import { Datasource, DatasourceBody, DatasourceDeleted, DatasourceKey } from "./datasource.ts";

const reachErrors = ["invalid_url", "blocked_address", "datasource_unreachable", "datasource_in_use"] as const;

/** Where the tenants of an organization live. */
export const datasourceEndpoints = {
  createDatasource: {
    summary: "Let the tenant live in a Postgres of your own, or register a service that has the records of some models",
    audience: "secret_key",
    body: DatasourceBody,
    reply: { 201: Datasource },
    errors: [...reachErrors, "datasource_exists", "datasource_busy", "datasource_has_tables"],
  },
  listDatasources: {
    summary: "List the datasources of both environments",
    audience: "secret_key",
    reply: { 200: ListEnvelope(Datasource) },
  },
  readDatasource: {
    summary: "Read one datasource",
    audience: "secret_key",
    reply: { 200: Datasource },
    errors: ["datasource_not_found"],
  },
  deleteDatasource: {
    summary: "Move the tenant's data back into the service's own database, or forget an endpoint",
    audience: "secret_key",
    reply: { 200: DatasourceDeleted },
    errors: [
      "datasource_not_found",
      "datasource_hosted",
      "datasource_busy",
      "datasource_has_tables",
      "datasource_has_models",
    ],
  },
  rotateDatasourceKey: {
    summary: "Replace the credentials of a datasource; it stays the same database or endpoint",
    audience: "secret_key",
    body: DatasourceKey,
    reply: { 201: Datasource },
    errors: ["datasource_not_found", "datasource_hosted", ...reachErrors],
  },
} as const satisfies Partial<Record<EndpointName, EndpointSchema>>;
