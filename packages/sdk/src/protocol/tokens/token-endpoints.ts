import type { EndpointSchema } from "../endpoint-schema.ts";
import { ListEnvelope } from "../lists/list.ts";
import type { EndpointName } from "../paths.ts";
import { tokenPage } from "../query-parameters.ts";
import {
  Capability,
  CapabilityBody,
  CapabilityDeleted,
  EphemeralKey,
  EphemeralKeyBody,
  EphemeralKeyDeleted,
  EphemeralKeysDeleted,
  Identity,
  RotateBody,
} from "./tokens.ts";

/** Capabilities, ephemeral keys, and the identity of a token. */
export const tokenEndpoints = {
  createCapability: {
    summary: "Create a capability for an agent",
    audience: "secret_key",
    body: CapabilityBody,
    reply: { 201: Capability },
    errors: ["narrow_scope_required", "invalid_participant_kind", "invalid_sync_group"],
  },
  listCapabilities: {
    summary: "List capabilities, oldest first",
    audience: "secret_key",
    query: tokenPage,
    reply: { 200: ListEnvelope(Capability) },
    errors: ["invalid_cursor"],
  },
  readCapability: {
    summary: "Read one capability",
    audience: "secret_key",
    reply: { 200: Capability },
    errors: ["capability_not_found"],
  },
  rotateCapability: {
    summary: "Replace a capability's token",
    audience: "secret_key",
    body: RotateBody,
    bodyOptional: true,
    reply: { 201: Capability },
    errors: ["capability_not_found"],
  },
  revokeCapability: {
    summary: "Revoke a capability",
    audience: "secret_key",
    reply: { 200: CapabilityDeleted },
    errors: ["capability_not_found"],
  },
  createEphemeralKey: {
    summary: "Create a key for a person's browser",
    audience: "secret_key",
    body: EphemeralKeyBody,
    reply: { 201: EphemeralKey },
    errors: ["narrow_scope_required", "invalid_sync_group"],
  },
  listEphemeralKeys: {
    summary: "List ephemeral keys, oldest first",
    audience: "secret_key",
    query: { ...tokenPage, user: { description: "Only this person's keys." } },
    reply: { 200: ListEnvelope(EphemeralKey) },
    errors: ["invalid_cursor"],
  },
  revokeEphemeralKey: {
    summary: "Revoke one ephemeral key",
    audience: "secret_key",
    reply: { 200: EphemeralKeyDeleted },
    errors: ["ephemeral_key_not_found"],
  },
  revokeEphemeralKeys: {
    summary: "Revoke every key of a person",
    audience: "secret_key",
    query: { user: { description: "The person's id; required." } },
    reply: { 200: EphemeralKeysDeleted },
    errors: ["missing_field"],
  },
  readIdentity: { summary: "Read the token's identity and permissions", audience: "token", reply: { 200: Identity } },
} as const satisfies Partial<Record<EndpointName, EndpointSchema>>;
