import type { Static, TSchema } from "typebox";
import { claimEndpoints } from "./claims/claim-endpoints.ts";
import { commitEndpoints } from "./commits/commit-endpoints.ts";
import { datasourceEndpoints } from "./datasources/datasource-endpoints.ts";
import type { EndpointSchema } from "./endpoint-schema.ts";
import { ListEnvelope } from "./lists/list.ts";
import { logEndpoints } from "./log/log-endpoints.ts";
import { recordEndpoints } from "./log/record-endpoints.ts";
import { organizationEndpoints } from "./organizations/organization-endpoints.ts";
import { Usage } from "./organizations/usage.ts";
import type { EndpointName } from "./paths.ts";
import { schemaEndpoints } from "./schema/schema-endpoints.ts";
import { tokenEndpoints } from "./tokens/token-endpoints.ts";
import { webhookEndpoints } from "./webhooks/webhook-endpoints.ts";

const organizationReads = {
  readUsage: {
    summary: "Read the usage of each day",
    audience: "secret_key",
    query: {
      starting_at: { description: "First UTC day, as `2026-01-31` or a date-time; default 29 days before the last." },
      ending_at: { description: "Last UTC day, inclusive; default today." },
    },
    reply: { 200: ListEnvelope(Usage) },
  },
} as const satisfies Partial<Record<EndpointName, EndpointSchema>>;

type Endpoints = typeof recordEndpoints &
  typeof commitEndpoints &
  typeof logEndpoints &
  typeof claimEndpoints &
  typeof schemaEndpoints &
  typeof webhookEndpoints &
  typeof datasourceEndpoints &
  typeof organizationReads &
  typeof tokenEndpoints &
  typeof organizationEndpoints;

/** Endpoint name → what it takes and what it answers. The same keys as `paths` and the server's handlers. */
export const endpoints: Endpoints = {
  ...recordEndpoints,
  ...commitEndpoints,
  ...logEndpoints,
  ...claimEndpoints,
  pushSchema: schemaEndpoints.pushSchema,
  ...webhookEndpoints,
  ...datasourceEndpoints,
  ...organizationReads,
  readSchema: schemaEndpoints.readSchema,
  ...tokenEndpoints,
  ...organizationEndpoints,
} satisfies Record<EndpointName, EndpointSchema>;

export type Body<N extends EndpointName> = Endpoints[N] extends { body: infer B extends TSchema }
  ? Static<B>
  : undefined;
export type Reply<N extends EndpointName> = Static<Endpoints[N]["reply"][keyof Endpoints[N]["reply"]] & TSchema>;
