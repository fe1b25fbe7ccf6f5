import { randomBytes } from "node:crypto";
import { webhookLimits } from "@holdfast/sdk/protocol";
import type { Database } from "../db/pool.ts";
import { transaction } from "../db/transaction.ts";
import { type Endpoint, listSealedSecrets, lockEndpoint, updateEndpoint } from "../db/webhook-endpoints.ts";

/** Keeps a text for one owner, and gives it back to that one only. */
export interface Sealing {
  seal(text: string, owner: string): Buffer;
  open(sealed: Buffer, owner: string): string | undefined;
  /** Whether the newest key sealed it. */
  isFresh(sealed: Buffer): boolean;
}

/** What deliveries are signed with. */
export interface WebhookSecrets {
  /** A new one for an endpoint. */
  make(owner: Pick<Endpoint, "organization" | "id">): { secret: string; sealed: Buffer };
  /** Those that sign now, the newest first; undefined: the newest cannot be read. */
  open(endpoint: Endpoint, now: number): string[] | undefined;
}

export const webhookSecrets = ({ seal, open }: Sealing): WebhookSecrets => ({
  make(owner) {
    const secret = `whsec_${randomBytes(webhookLimits.secretBytes).toString("base64")}`;
    return { secret, sealed: seal(secret, ownerOf(owner)) };
  },
  open(endpoint, now) {
    const { secret, oldSecret, oldSecretUntil } = endpoint;
    const owner = ownerOf(endpoint);
    const newest = open(secret, owner);
    if (newest === undefined) return undefined;
    const before = oldSecret && oldSecretUntil !== null && now < oldSecretUntil ? open(oldSecret, owner) : undefined;
    return before === undefined ? [newest] : [newest, before];
  },
});

const ownerOf = ({ organization, id }: Pick<Endpoint, "organization" | "id">): string => `${organization}/${id}`;

/** Seals anew what an older master key sealed, so that that key can be taken away. Answers how many cannot be read. */
export async function resealSecrets(db: Database, { seal, open, isFresh }: Sealing): Promise<number> {
  let unreadable = 0;
  for (const { world, id } of await listSealedSecrets(db))
    await transaction(db, async (tx) => {
      const endpoint = await lockEndpoint(tx, world, id);
      if (!endpoint) return;
      const owner = ownerOf(endpoint);
      const again = (sealed: Buffer): Buffer => {
        const text = isFresh(sealed) ? undefined : open(sealed, owner);
        return text === undefined ? sealed : seal(text, owner);
      };
      const secret = again(endpoint.secret);
      const oldSecret = endpoint.oldSecret && again(endpoint.oldSecret);
      if (open(secret, owner) === undefined) unreadable++;
      if (secret !== endpoint.secret || oldSecret !== endpoint.oldSecret)
        await updateEndpoint(tx, { ...endpoint, secret, oldSecret });
    });
  return unreadable;
}
