import { timingSafeEqual } from "node:crypto";
import { findSecretKey, type KeyLookup } from "../db/organizations.ts";
import type { Database } from "../db/pool.ts";
import type { Principal } from "../rules/participant.ts";
import { type Refusal, refuse } from "../rules/refusal.ts";
import { hasValidChecksum } from "../rules/token.ts";
import { tokenHash } from "./secret-keys.ts";

/** Who is asking. Answers from memory for two seconds, so that a revocation works everywhere within five. */
export interface Authenticator {
  principalOf(token: string): Promise<Principal | Refusal>;
  isOperator(token: string): boolean;
  /** Whether it was good when it was last looked at here; asks nobody. */
  knows(token: string): boolean;
  /** Forgets what is remembered of a key: its next request asks the database. */
  forget(tokenId: string): void;
}

const FRESH_MS = 2_000;
const MOST_REMEMBERED = 10_000;

export function createAuthenticator(pool: Database, adminToken: string): Authenticator {
  const remembered = new Map<string, { readonly found: KeyLookup; readonly at: number }>();
  const asking = new Map<string, Promise<KeyLookup | undefined>>();
  const adminHash = tokenHash(adminToken);

  /** Requests that come while a token is being looked up wait for the same answer. */
  function lookUp(token: string): Promise<KeyLookup | undefined> {
    const asked = asking.get(token) ?? askDatabase(token).finally(() => asking.delete(token));
    asking.set(token, asked);
    return asked;
  }

  async function askDatabase(token: string): Promise<KeyLookup | undefined> {
    const found = await findSecretKey(pool, tokenHash(token));
    remembered.delete(token);
    // Unknown tokens are not remembered: a stranger cannot fill the memory with guesses.
    if (!found) return undefined;
    if (remembered.size >= MOST_REMEMBERED) remembered.delete(remembered.keys().next().value as string);
    remembered.set(token, { found, at: Date.now() });
    return found;
  }

  return {
    async principalOf(token) {
      const known = remembered.get(token);
      if (known && Date.now() - known.at < FRESH_MS) return verdict(known.found);
      if (!hasValidChecksum(token)) return refuse("apikey_invalid");
      return verdict(await lookUp(token));
    },
    isOperator: (token) => timingSafeEqual(tokenHash(token), adminHash),
    knows: (token) => remembered.get(token)?.found.revoked === false,
    forget: (tokenId) => {
      for (const [token, { found }] of remembered) if (found.principal.tokenId === tokenId) remembered.delete(token);
    },
  };
}

const verdict = (found: KeyLookup | undefined): Principal | Refusal =>
  found === undefined ? refuse("apikey_invalid") : found.revoked ? refuse("token_revoked") : found.principal;

/** The token of `Authorization: Bearer <token>`; undefined when the header is absent or anything else. */
export function bearerToken(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer ([\x21-\x7e]{1,512})$/i.exec(header)?.[1];
}
