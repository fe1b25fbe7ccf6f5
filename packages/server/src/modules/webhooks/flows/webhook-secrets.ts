import { randomBytes } from "node:crypto";
import { webhookLimits } from "@holdfast/sdk/protocol";
import type { Database } from "../../../kernel/connection/pool.ts";
import { transaction } from "../../../kernel/connection/transaction.ts";
import type { Encryption } from "../../../kernel/encryption.ts";
import { type Endpoint, listStaleSecrets, lockEndpoint, updateEndpoint } from "../db/webhook-endpoints.ts";

/** The secrets that sign deliveries. */
export interface WebhookSecrets {
  /** Creates a secret for an endpoint. */
  make(owner: Pick<Endpoint, "organization" | "id">): { secret: string; sealed: Buffer };
  /** The secrets that sign now, newest first. Undefined if the newest cannot be decrypted. */
  open(endpoint: Endpoint, now: number): string[] | undefined;
}

export function webhookSecrets({ encrypt, decrypt }: Encryption): WebhookSecrets {
  /** Cache of decrypted secrets: every delivery needs one. */
  const opened = new Map<string, string>();

  function openOnce(sealed: Buffer, owner: string): string | undefined {
    const key = `${owner} ${sealed.toString("latin1")}`;
    const known = opened.get(key);
    if (known !== undefined) return known;
    const text = decrypt(sealed, owner);
    if (opened.size >= MOST_OPENED) opened.clear();
    if (text !== undefined) opened.set(key, text);
    return text;
  }

  return {
    make(owner) {
      const secret = `whsec_${randomBytes(webhookLimits.secretBytes).toString("base64")}`;
      return { secret, sealed: encrypt(secret, ownerOf(owner)) };
    },
    open(endpoint, now) {
      const { secret, oldSecret, oldSecretUntil } = endpoint;
      const owner = ownerOf(endpoint);
      const newest = openOnce(secret, owner);
      if (newest === undefined) return undefined;
      const isFresh = oldSecretUntil !== null && now < oldSecretUntil;
      const before = oldSecret && isFresh ? openOnce(oldSecret, owner) : undefined;
      return before === undefined ? [newest] : [newest, before];
    },
  };
}

const MOST_OPENED = 1_000;

const ownerOf = ({ organization, id }: Pick<Endpoint, "organization" | "id">): string => `${organization}/${id}`;

/**
 * Encrypts again everything that an older master key encrypted, so that the older key can be removed. Returns how many
 * secrets cannot be decrypted.
 */
export async function reencryptSecrets(db: Database, { encrypt, decrypt, keyName }: Encryption): Promise<number> {
  let unreadable = 0;
  for (const { tenant, id } of await listStaleSecrets(db, keyName))
    await transaction(db, async (tx) => {
      const endpoint = await lockEndpoint(tx, tenant, id);
      if (!endpoint) return;
      const owner = ownerOf(endpoint);
      const again = (sealed: Buffer): Buffer => {
        const text = decrypt(sealed, owner);
        return text === undefined ? sealed : encrypt(text, owner);
      };
      const secret = again(endpoint.secret);
      const oldSecret = endpoint.oldSecret && again(endpoint.oldSecret);
      if (decrypt(secret, owner) === undefined) unreadable++;
      if (secret !== endpoint.secret || oldSecret !== endpoint.oldSecret)
        await updateEndpoint(tx, { ...endpoint, secret, oldSecret });
    });
  return unreadable;
}
