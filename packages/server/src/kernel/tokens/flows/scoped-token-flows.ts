import {
  type CapabilityBody,
  type EphemeralKeyBody,
  isRecordId,
  limits,
  type RotateBody,
} from "@holdfast/sdk/protocol";
import { base62, newId } from "../../../ids.ts";
import type { Database } from "../../connection/pool.ts";
import { type Transaction, transaction } from "../../connection/transaction.ts";
import type { PageCursors } from "../../lists/flows/page-cursor.ts";
import { isRefusal, type Refusal, refuse } from "../../refusal.ts";
import { liveSchema } from "../../schema/flows/live-schema.ts";
import type { DataOf } from "../../tenant-data.ts";
import {
  insertToken,
  listTokens,
  lockToken,
  readToken,
  revokeToken,
  revokeTokensOf,
  type ScopedKind,
  type StoredToken,
  type TokenQuestion,
} from "../db/scoped-tokens.ts";
import type { Principal } from "../rules/participant.ts";
import { tokenOf, tokenPrefixes } from "../rules/token.ts";
import { capabilityGrant, ephemeralGrant, type TokenGrant } from "../rules/token-request.ts";
import type { EndTokens } from "./end-tokens.ts";
import { tokenHash } from "./secret-keys.ts";

/** A token with its secret, which is shown only once. */
export type { StoredToken };
export type MintedToken = StoredToken & { readonly token: string };

export interface TokenPage {
  readonly tokens: readonly StoredToken[];
  readonly nextCursor: string | null;
}

/** Creates, lists, rotates and revokes the tokens that a secret key issues. */
export interface ScopedTokenFlows {
  createCapability(by: Principal, body: CapabilityBody): Promise<MintedToken | Refusal>;
  createEphemeralKey(by: Principal, body: EphemeralKeyBody): Promise<MintedToken | Refusal>;
  list(
    by: Principal,
    kind: ScopedKind,
    page: { limit: number; cursor: string | undefined; participantId?: string | undefined },
  ): Promise<TokenPage | Refusal>;
  /** Undefined: no such token. */
  read(by: Principal, kind: ScopedKind, id: string): Promise<StoredToken | undefined>;
  /**
   * Creates a token with the same scope and participant. The old one stays valid for the grace period. Undefined: no
   * such token, or it has ended.
   */
  rotate(by: Principal, id: string, body: RotateBody): Promise<MintedToken | undefined>;
  /** Returns how many streams of this process ended with the token. Undefined: no such token. */
  revoke(by: Principal, kind: ScopedKind, id: string): Promise<number | undefined>;
  revokeAllOf(by: Principal, user: string): Promise<{ tokens: number; sessions: number }>;
}

/** `revoked` is called for a token that ended now. It returns how many streams ended with it. */
export function scopedTokenFlows(
  db: Database,
  dataOf: DataOf,
  cursors: PageCursors,
  revoked: (tokenId: string) => number,
  ends: EndTokens,
): ScopedTokenFlows {
  return {
    async createCapability(by, body) {
      const grant = capabilityGrant(body, by.organization);
      return isRefusal(grant) ? grant : transaction(db, (tx) => mint(tx, by.tenant, "capability", grant));
    },
    async createEphemeralKey(by, body) {
      const { pool, schemas } = await dataOf(by);
      const { models } = await liveSchema(pool, schemas, by.tenant);
      const declared = [...models.values()].map(({ name }) => name);
      const grant = ephemeralGrant(body, by.organization, declared);
      return isRefusal(grant) ? grant : transaction(db, (tx) => mint(tx, by.tenant, "ephemeral_key", grant));
    },
    async list({ tenant }, kind, { limit, cursor, participantId }) {
      const context = JSON.stringify([kind, tenant, participantId ?? null]);
      const after = cursor === undefined ? undefined : (cursors.decode(context, cursor) as TokenQuestion["after"]);
      if (cursor !== undefined && !after) return refuse("invalid_cursor", { param: "starting_after" });
      const found = await listTokens(db, { tenant, kind, participantId, after, limit: limit + 1 });
      const tokens = found.slice(0, limit);
      const last = tokens.at(-1);
      const more = found.length > limit && last !== undefined;
      return { tokens, nextCursor: more ? cursors.encode(context, { at: last.issuedAt, id: last.id }) : null };
    },
    read: async ({ tenant }, kind, id) => (isRecordId(id) ? await readToken(db, { tenant, kind, id }) : undefined),
    async rotate({ tenant }, id, { graceSeconds = 0, ttlSeconds = limits.capabilityTtlSeconds }) {
      if (!isRecordId(id)) return undefined;
      const minted = await transaction(db, async (tx) => {
        const name = { tenant, kind: "capability" as const, id };
        // Lock in a separate statement, so that the second of two concurrent rotations sees the result of the first.
        await lockToken(tx, name);
        const old = await readToken(tx, name);
        if (old?.status !== "active") return undefined;
        await revokeToken(tx, name, graceSeconds);
        const budget = old.budget && { ...old.budget, chain: old.budget.chain ?? id };
        return await mint(tx, tenant, "capability", { ...old, budget, ttlSeconds }, id);
      });
      if (minted && graceSeconds === 0) revoked(id);
      return minted;
    },
    async revoke(by, kind, id) {
      const { tenant } = by;
      if (!isRecordId(id)) return undefined;
      const known = await transaction(db, async (tx) => {
        const ended = await revokeToken(tx, { tenant, kind, id }, 0);
        // Only if the token belongs to this tenant and has this kind: nothing of other tenants must end.
        if (ended) await ends.here(tx, [id]);
        return ended;
      });
      if (!known) return undefined;
      await ends.elsewhere(by, [id]);
      return revoked(id);
    },
    async revokeAllOf(by, user) {
      const ids = await transaction(db, async (tx) => {
        const ended = await revokeTokensOf(tx, by.tenant, user);
        await ends.here(tx, ended);
        return ended;
      });
      await ends.elsewhere(by, ids);
      return { tokens: ids.length, sessions: ids.reduce((sum, id) => sum + revoked(id), 0) };
    },
  };
}

const ID_PREFIX = { capability: "cap_", ephemeral_key: "eph_" } as const;

async function mint(
  tx: Transaction,
  tenant: number,
  kind: ScopedKind,
  grant: TokenGrant,
  rotatedFrom: string | null = null,
): Promise<MintedToken> {
  const id = newId(ID_PREFIX[kind]);
  const token = tokenOf(tokenPrefixes[kind], base62(30));
  const stored = await insertToken(tx, {
    ...grant,
    id,
    tenant,
    kind,
    hash: tokenHash(token),
    last4: token.slice(-4),
    participantId: grant.participantId ?? id,
    rotatedFrom,
  });
  return { ...stored, token };
}
