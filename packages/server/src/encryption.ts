import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { Encryption } from "./flows/webhooks/webhook-secrets.ts";

/** A key to seal with, in base64. */
export const newMasterKey = (): string => randomBytes(32).toString("base64");

/** `<key's name, 4 bytes><nonce, 12 bytes><tag, 16 bytes><text>` */
const NAME_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Keeps secrets that we need in clear again, such as those that sign webhooks: AES-256-GCM, bound to whose they are.
 * @param keys 32 bytes each, the newest first: it seals, all of them open.
 */
export function createEncryption(keys: readonly Buffer[]): Encryption {
  const named = keys.map((key) => ({ key, name: createHash("sha256").update(key).digest().subarray(0, NAME_BYTES) }));
  const [newest] = named;
  if (!newest) throw new Error("Encryption needs a key.");
  return {
    encrypt(text, owner) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", newest.key, nonce).setAAD(Buffer.from(owner));
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([newest.name, nonce, cipher.getAuthTag(), sealed]);
    },
    decrypt(sealed, owner) {
      const key = named.find(({ name }) => name.equals(sealed.subarray(0, NAME_BYTES)))?.key;
      if (!key || sealed.length < NAME_BYTES + NONCE_BYTES + TAG_BYTES) return undefined;
      const [nonceAt, tagAt] = [NAME_BYTES, NAME_BYTES + NONCE_BYTES];
      try {
        const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(nonceAt, tagAt))
          .setAAD(Buffer.from(owner))
          .setAuthTag(sealed.subarray(tagAt, tagAt + TAG_BYTES));
        return decipher.update(sealed.subarray(tagAt + TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
      } catch {
        return undefined;
      }
    },
    keyName: newest.name,
  };
}
