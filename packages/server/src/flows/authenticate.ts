import { timingSafeEqual } from "node:crypto";
import { findSecretKey, type KeyLookup } from "../db/organizations.ts";
import type { Database } from "../db/pool.ts";
import { findToken } from "../db/scoped-tokens.ts";
import type { Principal } from "../rules/participant.ts";
import { type Refusal, refuse } from "../rules/refusal.ts";
import { scopeOf } from "../rules/scope.ts";
import { hasValidChecksum, isSecretKey } from "../rules/token.ts";
import { tokenHash } from "./secret-keys.ts";

/** Who is asking. Answers from memory for two seconds, so that a revocation works everywhere within five. */
export interface Authenticator {
  /** At once while it is remembered: this is asked with every request. */
  principalOf(token: string): Principal | Refusal | Promise<Principal | Refusal>;
  isOperator(token: string): boolean;
  /** Whether it was good when it was last looked at here; asks nobody. */
  knows(token: string): boolean;
  /** Forgets what is remembered of a key: its next request asks the database. */
  forget(tokenId: string): void;
}

const FRESH_MS = 2_000;
const MOST_REMEMBERED = 10_000;

export function createAuthenticator(pool: Database, adminToken: string): Authenticator {
  const remembered = new Map<string, { readonly found: Known; readonly at: number }>();
  const asking = new Map<string, Promise<Known | undefined>>();
  const adminHash = tokenHash(adminToken);

  /** Requests that come while a token is being looked up wait for the same answer. */
  function lookUp(token: string): Promise<Known | undefined> {
    const asked = asking.get(token) ?? askDatabase(token).finally(() => asking.delete(token));
    asking.set(token, asked);
    return asked;
  }

  async function askDatabase(token: string): Promise<Known | undefined> {
    const found = known(await (isSecretKey(token) ? findSecretKey : findToken)(pool, tokenHash(token)));
    remembered.delete(token);
    // Unknown tokens are not remembered: a stranger cannot fill the memory with guesses.
    if (!found) return undefined;
    if (remembered.size >= MOST_REMEMBERED) remembered.delete(remembered.keys().next().value as string);
    remembered.set(token, { found, at: performance.now() });
    return found;
  }

  return {
    principalOf(token) {
      const memory = remembered.get(token);
      const ageMs = memory ? performance.now() - memory.at : FRESH_MS;
      if (memory && ageMs < FRESH_MS) return verdict(memory.found, ageMs);
      if (!hasValidChecksum(token)) return refuse("apikey_invalid");
      return lookUp(token).then((found) => verdict(found, 0));
    },
    isOperator: (token) => timingSafeEqual(tokenHash(token), adminHash),
    knows: (token) => remembered.get(token)?.found.revoked === false,
    forget: (tokenId) => {
      for (const [token, { found }] of remembered) if (found.principal.tokenId === tokenId) remembered.delete(token);
    },
  };
}

interface Known {
  readonly principal: Principal;
  readonly revoked: boolean;
  readonly expiresInMs: number | undefined;
}

const known = (found: KeyLookup | undefined): Known | undefined =>
  found && {
    principal: {
      ...found.principal,
      scope: found.grant && scopeOf(found.principal.organization, found.grant.operations, found.grant.syncGroups),
    },
    revoked: found.revoked,
    expiresInMs: found.expiresInMs,
  };

function verdict(found: Known | undefined, ageMs: number): Principal | Refusal {
  if (found === undefined) return refuse("apikey_invalid");
  if (found.revoked) return refuse("token_revoked");
  return found.expiresInMs !== undefined && found.expiresInMs <= ageMs ? refuse("token_expired") : found.principal;
}

/** The token of `Authorization: Bearer <token>`; undefined when the header is absent or anything else. */
export function bearerToken(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer ([\x21-\x7e]{1,512})$/i.exec(header)?.[1];
}
