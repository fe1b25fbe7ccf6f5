import {
  type CapabilityBody,
  type EphemeralKeyBody,
  isSyncGroup,
  limits,
  type ParticipantKind,
} from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../refusal.ts";
import { organizationGroup } from "../../schema/rules/sync-group.ts";

import type { Budget } from "./budget.ts";

/** The checked permissions for a new token. */
export interface TokenGrant {
  readonly participantKind: ParticipantKind;
  /** Undefined: the token's own id. */
  readonly participantId: string | undefined;
  readonly operations: readonly string[];
  readonly syncGroups: readonly string[];
  readonly onBehalfOf: readonly string[];
  readonly budget: Budget | null;
  readonly ttlSeconds: number;
  readonly label: string | null;
  readonly userMeta: Readonly<Record<string, unknown>> | null;
}

export function capabilityGrant(body: CapabilityBody, organization: string): TokenGrant | Refusal {
  const {
    participantKind = "agent",
    participantId,
    operations = [],
    syncGroups = [],
    onBehalfOf = [],
    budget = null,
    userMeta = null,
  } = body;
  if (participantKind !== "agent" && participantKind !== "system")
    return refuse("invalid_participant_kind", { param: "participantKind" });
  const isWide = body.wideScope === true;
  if (!isWide && operations.length === 0) return refuse("narrow_scope_required", { param: "operations" });
  if (!isWide && syncGroups.length === 0) return refuse("narrow_scope_required", { param: "syncGroups" });
  if (userMeta !== null && JSON.stringify(userMeta).length > limits.userMetaLength)
    return refuse("invalid_value", {
      param: "userMeta",
      message: `"userMeta" must be at most ${limits.userMetaLength} characters of JSON.`,
    });
  const refusal =
    (participantId === undefined ? undefined : checkName(participantId, "participantId")) ??
    checkScope(operations, syncGroups, organization);
  if (refusal) return refusal;
  return {
    participantKind,
    participantId,
    operations: operations.length === 0 ? ["*.*"] : unique(operations),
    syncGroups: syncGroups.length === 0 ? [organizationGroup(organization)] : unique(syncGroups),
    onBehalfOf: unique(onBehalfOf),
    budget: budget && { ...budget, per: budget.per ?? "token" },
    ttlSeconds: body.ttlSeconds ?? limits.capabilityTtlSeconds,
    label: body.label ?? null,
    userMeta,
  };
}

/** `models`: the pushed ones, as declared. They are the default permissions of a person. */
export function ephemeralGrant(
  body: EphemeralKeyBody,
  organization: string,
  models: readonly string[],
): TokenGrant | Refusal {
  const { user, operations, syncGroups } = body;
  if (operations?.length === 0) return refuse("narrow_scope_required", { param: "operations" });
  if (syncGroups?.length === 0) return refuse("narrow_scope_required", { param: "syncGroups" });
  const refusal = checkName(user.id, "user.id") ?? checkScope(operations ?? [], syncGroups ?? [], organization);
  if (refusal) return refusal;
  return {
    participantKind: "user",
    participantId: user.id,
    operations: operations ? unique(operations) : models.map((model) => `${model}.*`),
    syncGroups: syncGroups ? unique(syncGroups) : [`user:${user.id}`],
    onBehalfOf: [],
    budget: null,
    ttlSeconds: body.ttlSeconds ?? limits.ephemeralTtlSeconds,
    label: body.label ?? null,
    userMeta: null,
  };
}

const OPERATION =
  /^(?:[A-Za-z][A-Za-z0-9_]{0,62}\.(?:read|propose|create|update|delete|erase|\*)|\*\.(?:read|propose|\*))$/;
const CLAIM_OPERATIONS = new Set(["claim.preempt", "claim.reorder"]);

function checkScope(
  operations: readonly string[],
  syncGroups: readonly string[],
  organization: string,
): Refusal | undefined {
  const operation = operations.findIndex((one) => !OPERATION.test(one) && !CLAIM_OPERATIONS.has(one));
  if (operation >= 0)
    return refuse("invalid_value", {
      param: `operations[${operation}]`,
      message:
        "An operation must be <model>.<read|propose|create|update|delete|erase|*>, *.read, *.propose, *.*, claim.preempt or claim.reorder.",
    });
  const group = syncGroups.findIndex(
    (one) => !isSyncGroup(one) || (one.startsWith("org:") && one !== organizationGroup(organization)),
  );
  return group < 0
    ? undefined
    : refuse("invalid_sync_group", {
        param: `syncGroups[${group}]`,
        message: `A sync group must be <kind>:<id>; the only one of kind "org" is ${organizationGroup(organization)}.`,
      });
}

/** A participant's name has to fit into the group `user:<name>`. */
const checkName = (name: string, param: string): Refusal | undefined =>
  isSyncGroup(`user:${name}`)
    ? undefined
    : refuse("invalid_value", { param, message: `"${param}" must be 1 to 200 characters without spaces.` });

const unique = (items: readonly string[]): readonly string[] => [...new Set(items)];
