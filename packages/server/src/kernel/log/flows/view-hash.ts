import { createHash } from "node:crypto";
import type { Principal, Scope } from "../../tokens/rules/participant.ts";
import { viewName, viewOfToken } from "../rules/view.ts";

const hashes = new WeakMap<Scope, string>();

/**
 * A fingerprint of everything that a token may read: the same for tokens with the same view, and different once models
 * or groups are added or removed. A client that stored rows under another fingerprint reads them again.
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

/** The first 128 bits of SHA-256 in 22 characters. */
const hashOf = (name: string): string =>
  createHash("sha256").update(name).digest().subarray(0, 16).toString("base64url");

const WHOLE = hashOf("");
