import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { Encryption } from "./kernel/encryption.ts";

/** A new encryption key, in base64. */
export const newMasterKey = (): string => randomBytes(32).toString("base64");

/** `<key name, 4 bytes><nonce, 12 bytes><tag, 16 bytes><text>` */
const NAME_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts secrets that the server needs in clear later, such as webhook signing secrets: AES-256-GCM, bound to their
 * owner. @param keys 32 bytes each, newest first: the newest encrypts, all decrypt.
 */
export function createEncryption(keys: readonly Buffer[]): Encryption {
  const named = keys.map((key) => ({ key, name: createHash("sha256").update(key).digest().subarray(0, NAME_BYTES) }));
  const [newest] = named;
  if (!newest) throw new Error("Secrets cannot be encrypted, because no master key is configured.");
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
