import type { EndpointSchema } from "../endpoint-schema.ts";
import { ListEnvelope } from "../lists/list.ts";
import type { EndpointName } from "../paths.ts";
import { Deleted, Organization, OrganizationBody, RevokeBody, SecretKey, SecretKeyBody } from "./operator.ts";

/** Organizations and their secret keys, managed by the operator. */
export const organizationEndpoints = {
  createOrganization: {
    summary: "Create an organization",
    audience: "operator",
    body: OrganizationBody,
    reply: { 201: Organization },
  },
  listOrganizations: {
    summary: "List organizations",
    audience: "operator",
    reply: { 200: ListEnvelope(Organization) },
  },
  createSecretKey: {
    summary: "Create a secret key",
    audience: "operator",
    body: SecretKeyBody,
    reply: { 201: SecretKey },
    errors: ["organization_not_found"],
  },
  listSecretKeys: {
    summary: "List secret keys",
    audience: "operator",
    query: { organization: { description: "Only this organization's keys." } },
    reply: { 200: ListEnvelope(SecretKey) },
  },
  revokeSecretKey: {
    summary: "Revoke a secret key",
    audience: "operator",
    body: RevokeBody,
    bodyOptional: true,
    reply: { 200: Deleted },
    errors: ["secret_key_not_found"],
  },
} as const satisfies Partial<Record<EndpointName, EndpointSchema>>;
