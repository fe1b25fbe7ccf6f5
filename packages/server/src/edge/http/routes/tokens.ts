import { type Capability, type EphemeralKey, isRecordId, limits } from "@holdfast/sdk/protocol";
import { isRefusal, type Refusal, refuse } from "../../../kernel/refusal.ts";
import type { Identify } from "../../../kernel/tokens/flows/identify.ts";
import type {
  MintedToken,
  ScopedTokenFlows,
  StoredToken,
  TokenPage,
} from "../../../kernel/tokens/flows/scoped-token-flows.ts";
import { shownBudget } from "../../../kernel/tokens/rules/budget.ts";
import type { Principal } from "../../../kernel/tokens/rules/participant.ts";
import type { Handlers, Query } from "../answer.ts";
import { readInteger } from "../query.ts";

type TokenHandlers = Pick<
  Handlers,
  | "createCapability"
  | "listCapabilities"
  | "readCapability"
  | "rotateCapability"
  | "revokeCapability"
  | "createEphemeralKey"
  | "listEphemeralKeys"
  | "revokeEphemeralKey"
  | "revokeEphemeralKeys"
  | "readIdentity"
>;

/** Tokens for agents and browsers, and what a token says about itself. */
export function tokenRoutes(flows: ScopedTokenFlows, identify: Identify): TokenHandlers {
  return {
    createCapability: async ({ principal, body }) =>
      minted(await flows.createCapability(principal, body), capabilityOf),
    listCapabilities: async ({ principal, query }) =>
      listed(await page(flows, principal, "capability", query), capabilityOf),
    readCapability: async ({ principal, params: { id = "" } }) => {
      const found = isRecordId(id) ? await flows.read(principal, "capability", id) : undefined;
      return found ? { value: capabilityOf(found) } : noCapability;
    },
    rotateCapability: async ({ principal, params: { id = "" }, body }) => {
      const next = isRecordId(id) ? await flows.rotate(principal, id, body ?? {}) : undefined;
      return next ? minted(next, capabilityOf) : noCapability;
    },
    revokeCapability: async ({ principal, params: { id = "" } }) => {
      const closed = isRecordId(id) ? await flows.revoke(principal, "capability", id) : undefined;
      return closed === undefined
        ? noCapability
        : { value: { object: "capability", id, deleted: true, activeSessionsClosed: closed } };
    },
    createEphemeralKey: async ({ principal, body }) =>
      minted(await flows.createEphemeralKey(principal, body), ephemeralKeyOf),
    listEphemeralKeys: async ({ principal, query }) =>
      listed(await page(flows, principal, "ephemeral_key", query), ephemeralKeyOf),
    revokeEphemeralKey: async ({ principal, params: { id = "" } }) => {
      const closed = isRecordId(id) ? await flows.revoke(principal, "ephemeral_key", id) : undefined;
      return closed === undefined
        ? { refusal: refuse("ephemeral_key_not_found", { param: "id" }) }
        : { value: { object: "ephemeral_key", id, deleted: true, activeSessionsClosed: closed } };
    },
    revokeEphemeralKeys: async ({ principal, query }) => {
      const { user } = query.one;
      if (user === undefined || user === "") return { refusal: refuse("missing_field", { param: "user" }) };
      const { tokens, sessions } = await flows.revokeAllOf(principal, user);
      return { value: { object: "ephemeral_key_revocation", user, deleted: tokens, activeSessionsClosed: sessions } };
    },
    readIdentity: async ({ principal }) => ({ value: await identify(principal) }),
  };
}

const noCapability = { refusal: refuse("capability_not_found", { param: "id" }) };

async function page(
  flows: ScopedTokenFlows,
  principal: Principal,
  kind: StoredToken["kind"],
  { one }: Query,
): Promise<TokenPage | Refusal> {
  const limit = readInteger(one.limit, { name: "limit", min: 1, max: limits.listMax, absent: limits.listDefault });
  if (isRefusal(limit)) return limit;
  return await flows.list(principal, kind, { limit, cursor: one.starting_after, participantId: one.user });
}

const minted = <T extends object>(token: MintedToken | Refusal, show: (token: StoredToken) => T) =>
  isRefusal(token) ? { refusal: token } : { status: 201, value: { ...show(token), token: token.token } };

const listed = <T>(found: TokenPage | Refusal, show: (token: StoredToken) => T) =>
  isRefusal(found)
    ? { refusal: found }
    : {
        value: {
          object: "list" as const,
          data: found.tokens.map(show),
          has_more: found.nextCursor !== null,
          next_cursor: found.nextCursor,
        },
      };

const capabilityOf = (token: StoredToken): Capability => ({
  object: "capability",
  id: token.id,
  capabilityId: token.id,
  participantKind: token.participantKind,
  participantId: token.participantId,
  operations: [...token.operations],
  syncGroups: [...token.syncGroups],
  onBehalfOf: [...token.onBehalfOf],
  budget: shownBudget(token.budget),
  scope: {
    organizationId: token.organization,
    participantKind: token.participantKind,
    participantId: token.participantId,
    operations: [...token.operations],
    syncGroups: [...token.syncGroups],
  },
  organizationId: token.organization,
  livemode: token.livemode,
  label: token.label,
  userMeta: token.userMeta && { ...token.userMeta },
  ...timesOf(token),
  ...(token.rotatedFrom !== null &&
    token.rotatedFromEndsAt !== null && {
      rotatedFrom: { id: token.rotatedFrom, expiresAt: token.rotatedFromEndsAt },
    }),
});

const ephemeralKeyOf = (token: StoredToken): EphemeralKey => ({
  object: "ephemeral_key",
  id: token.id,
  participantId: token.participantId,
  participantKind: "user",
  operations: [...token.operations],
  syncGroups: [...token.syncGroups],
  organizationId: token.organization,
  livemode: token.livemode,
  label: token.label,
  ...timesOf(token),
});

const timesOf = ({ status, issuedAt, expiresAt, revokedAt, lastUsedAt }: StoredToken) => ({
  status,
  issuedAt,
  expiresAt,
  revokedAt,
  lastUsedAt,
});
