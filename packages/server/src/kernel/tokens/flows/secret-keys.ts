import { createHash } from "node:crypto";
import type { SecretKey } from "@holdfast/sdk/protocol";
import { base62, newId } from "../../../ids.ts";
import type { Transaction } from "../../connection/transaction.ts";
import { insertSecretKey } from "../../organizations/db/organizations.ts";
import { tokenOf, tokenPrefixes } from "../rules/token.ts";

/** Only this hash of a token is stored. */
export const tokenHash = (token: string): Buffer => createHash("sha256").update(token).digest();

export const newSecretToken = (livemode: boolean): string =>
  tokenOf(livemode ? tokenPrefixes.live : tokenPrefixes.test, base62(30));

/** Creates a key for a tenant. The returned token cannot be read again. */
export async function mintSecretKey(
  tx: Transaction,
  tenant: number,
  livemode: boolean,
  label: string | null,
): Promise<SecretKey> {
  const token = newSecretToken(livemode);
  return { ...(await storeSecretKey(tx, tenant, token, label, false)), token };
}

/** Stores a key whose token the operator has chosen. */
export const storeSecretKey = (
  tx: Transaction,
  tenant: number,
  token: string,
  label: string | null,
  configured: boolean,
): Promise<SecretKey> =>
  insertSecretKey(tx, { id: newId("key_"), tenant, hash: tokenHash(token), last4: token.slice(-4), label, configured });
