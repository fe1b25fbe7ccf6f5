import { timingSafeEqual } from "node:crypto";
import type { Database } from "../../connection/pool.ts";
import { findSecretKeys, type KeyLookup } from "../../organizations/db/organizations.ts";
import { type Refusal, refuse } from "../../refusal.ts";
import { type CacheUse, createSizedCache } from "../../sized-cache.ts";
import { findTokens } from "../db/scoped-tokens.ts";
import type { Principal } from "../rules/participant.ts";
import { scopeOf } from "../rules/scope.ts";
import { hasValidChecksum, isSecretKey } from "../rules/token.ts";
import { createBatch } from "./batch.ts";
import { tokenHash } from "./secret-keys.ts";

/**
 * Finds the principal of a token, from memory if possible. While this process is notified of ended tokens (see
 * follow-token-ends.ts), entries stay valid for a minute, otherwise for two seconds, so that a revocation takes effect
 * everywhere within five.
 */
export interface Authenticator {
  readonly use: CacheUse;
  /** Synchronous for a cached token, because every request calls it. */
  principalOf(token: string): Principal | Refusal | Promise<Principal | Refusal>;
  /** The same for an open socket's token. Queries the database only if an end may have been missed. */
  recheck(token: string): Principal | Refusal | Promise<Principal | Refusal>;
  isOperator(token: string): boolean;
  /** Whether the cache holds a valid token. Never queries the database. */
  hasCached(token: string): boolean;
  /** Removes a token from the cache: its next request queries the database. */
  forget(tokenId: string): void;
  forgetAll(): void;
}

export interface AuthenticatorOptions {
  /** Whether this process is notified of every token that ends. */
  receivesTokenEnds?(): boolean;
  readonly maxBytes?: number;
}

interface Remembered {
  readonly found: Known;
  /** Monotonic, in milliseconds. */
  readonly at: number;
}

const SHORT_TTL_MS = 2_000;
/** A token's last use is saved when it is looked up, so at most once a minute. */
const LONG_TTL_MS = 60_000;
const USUAL_BYTES = 16 * 2 ** 20;
/** Concurrent lookups. Each statement takes all tokens that wait. */
const AT_ONCE = 2;

export function createAuthenticator(
  db: Database,
  adminToken: string,
  { receivesTokenEnds = () => false, maxBytes = USUAL_BYTES }: AuthenticatorOptions = {},
): Authenticator {
  const remembered = createSizedCache<string, Remembered>(maxBytes, bytesOf);
  const tokensById = new Map<string, string>();
  const adminHash = tokenHash(adminToken);
  const lookUpSecretKey = createBatch((tokens: readonly string[]) => findAll(findSecretKeys, tokens), {
    atOnce: AT_ONCE,
  });
  const lookUpToken = createBatch((tokens: readonly string[]) => findAll(findTokens, tokens), { atOnce: AT_ONCE });

  async function findAll(find: typeof findTokens, tokens: readonly string[]): Promise<Map<string, KeyLookup>> {
    const found = await find(db, tokens.map(tokenHash));
    return new Map([...found].map(([nth, lookup]) => [tokens[nth] as string, lookup]));
  }

  async function lookUp(token: string): Promise<Known | undefined> {
    const found = known(await (isSecretKey(token) ? lookUpSecretKey : lookUpToken)(token));
    // Unknown tokens are not cached: otherwise anyone could fill the memory with guesses.
    if (!found) return undefined;
    remembered.set(token, { found, at: performance.now() });
    rememberId(found.principal.tokenId, token);
    return found;
  }

  function rememberId(id: string, token: string): void {
    tokensById.set(id, token);
    if (tokensById.size <= 2 * (remembered.size + 1_000)) return;
    for (const [one, its] of tokensById) if (!remembered.peek(its)) tokensById.delete(one);
  }

  function within(ms: number, token: string): Principal | Refusal | Promise<Principal | Refusal> {
    const memory = remembered.get(token);
    const ageMs = memory ? performance.now() - memory.at : 0;
    if (memory && ageMs < ms) return verdict(memory.found, ageMs);
    if (!hasValidChecksum(token)) return refuse("apikey_invalid");
    return lookUp(token).then((found) => verdict(found, 0));
  }

  return {
    principalOf: (token) => within(receivesTokenEnds() ? LONG_TTL_MS : SHORT_TTL_MS, token),
    recheck: (token) => within(receivesTokenEnds() ? Number.POSITIVE_INFINITY : SHORT_TTL_MS, token),
    isOperator: (token) => timingSafeEqual(tokenHash(token), adminHash),
    hasCached: (token) => remembered.peek(token)?.found.revoked === false,
    forget(tokenId) {
      const token = tokensById.get(tokenId);
      if (token !== undefined) remembered.delete(token);
      tokensById.delete(tokenId);
    },
    forgetAll() {
      remembered.clear();
      tokensById.clear();
    },
    use: remembered,
  };
}

/** Approximate memory of a token with its principal. */
const bytesOf = ({ found: { principal } }: Remembered): number =>
  1_500 +
  100 *
    ((principal.scope?.groups?.size ?? 0) +
      (principal.scope?.operations.size ?? 0) +
      (principal.scope?.onBehalfOf.size ?? 0));

interface Known {
  readonly principal: Principal;
  readonly revoked: boolean;
  readonly expiresInMs: number | undefined;
}

const known = (found: KeyLookup | undefined): Known | undefined =>
  found && {
    principal: {
      ...found.principal,
      scope: found.grant && scopeOf(found.principal.organization, found.grant),
    },
    revoked: found.revoked,
    expiresInMs: found.expiresInMs,
  };

function verdict(found: Known | undefined, ageMs: number): Principal | Refusal {
  if (found === undefined) return refuse("apikey_invalid");
  if (found.revoked) return refuse("token_revoked");
  return found.expiresInMs !== undefined && found.expiresInMs <= ageMs ? refuse("token_expired") : found.principal;
}

/** The token of `Authorization: Bearer <token>`. Undefined if the header is missing or has another form. */
export function bearerToken(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer ([\x21-\x7e]{1,512})$/i.exec(header)?.[1];
}
