import { createHash } from "node:crypto";
import { viewName, viewOfToken } from "../../rules/log/view.ts";
import type { Principal, Scope } from "../../rules/tokens/participant.ts";

const hashes = new WeakMap<Scope, string>();

/**
 * A fingerprint of all that a token's bearer may read: the same for tokens with the same view, another one as soon as
 * models or groups are added or taken away. A client that kept rows under another one reads them again.
 */
export function viewHashOf({ scope }: Pick<Principal, "scope">): string {
  if (scope === undefined) return WHOLE;
  let hash = hashes.get(scope);
  if (hash === undefined) {
    hash = hashOf(viewName(viewOfToken({ scope })));
    hashes.set(scope, hash);
  }
  return hash;
}

/** 22 characters, of the 128 first bits of SHA-256. */
const hashOf = (name: string): string =>
  createHash("sha256").update(name).digest().subarray(0, 16).toString("base64url");

const WHOLE = hashOf("");
