import type { Static, TSchema } from "typebox";
import { proposalEndpoints } from "./changes/proposal-endpoints.ts";
import { claimEndpoints } from "./claims/claim-endpoints.ts";
import { commitEndpoints } from "./commits/commit-endpoints.ts";
import { datasourceEndpoints } from "./datasources/datasource-endpoints.ts";
import type { EndpointSchema } from "./endpoint-schema.ts";
import { logEndpoints } from "./log/log-endpoints.ts";
import { recordEndpoints } from "./log/record-endpoints.ts";
import { organizationEndpoints } from "./organizations/organization-endpoints.ts";
import { usageEndpoints } from "./organizations/usage-endpoints.ts";
import type { EndpointName } from "./paths.ts";
import { schemaEndpoints } from "./schema/schema-endpoints.ts";
import { tokenEndpoints } from "./tokens/token-endpoints.ts";
import { webhookEndpoints } from "./webhooks/webhook-endpoints.ts";

type Endpoints = typeof recordEndpoints &
  typeof commitEndpoints &
  typeof logEndpoints &
  typeof claimEndpoints &
  typeof proposalEndpoints &
  typeof schemaEndpoints &
  typeof webhookEndpoints &
  typeof datasourceEndpoints &
  typeof usageEndpoints &
  typeof tokenEndpoints &
  typeof organizationEndpoints;

/** Endpoint name → what it takes and what it answers. The same keys as `paths` and the server's handlers. */
export const endpoints: Endpoints = {
  ...recordEndpoints,
  ...commitEndpoints,
  ...logEndpoints,
  ...claimEndpoints,
  ...proposalEndpoints,
  pushSchema: schemaEndpoints.pushSchema,
  ...webhookEndpoints,
  ...datasourceEndpoints,
  ...usageEndpoints,
  readSchema: schemaEndpoints.readSchema,
  ...tokenEndpoints,
  ...organizationEndpoints,
} satisfies Record<EndpointName, EndpointSchema>;

export type Body<N extends EndpointName> = Endpoints[N] extends { body: infer B extends TSchema }
  ? Static<B>
  : undefined;
export type Reply<N extends EndpointName> = Static<Endpoints[N]["reply"][keyof Endpoints[N]["reply"]] & TSchema>;
