import { expect, test } from "vitest";
import { createEncryption, newMasterKey } from "./encryption.ts";

const [old, key, foreign] = [newMasterKey(), newMasterKey(), newMasterKey()].map((text) => Buffer.from(text, "base64"));

test("[W19] an encrypted secret can be decrypted only for its owner, with its key, and unchanged", () => {
  const seal = createEncryption([key as Buffer]);
  const sealed = seal.encrypt("whsec_é", "org_1/we_1");
  expect(seal.decrypt(sealed, "org_1/we_1")).toBe("whsec_é");
  expect(sealed.includes("whsec")).toBe(false);
  expect(seal.encrypt("whsec_é", "org_1/we_1").equals(sealed)).toBe(false);
  expect(seal.decrypt(sealed, "org_1/we_2")).toBeUndefined();
  expect(createEncryption([foreign as Buffer]).decrypt(sealed, "org_1/we_1")).toBeUndefined();
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed);
    changed[i] = (changed[i] as number) ^ 1;
    expect(seal.decrypt(changed, "org_1/we_1")).toBeUndefined();
    expect(seal.decrypt(sealed.subarray(0, i), "org_1/we_1")).toBeUndefined();
  }
});

test("[W19] the newest of several keys encrypts, and all can decrypt", () => {
  const before = createEncryption([old as Buffer]).encrypt("secret", "o");
  const seal = createEncryption([key as Buffer, old as Buffer]);
  expect(seal.decrypt(before, "o")).toBe("secret");
  const [stale, fresh] = [before, seal.encrypt("secret", "o")].map((sealed) => sealed.subarray(0, seal.keyName.length));
  expect(stale?.equals(seal.keyName)).toBe(false);
  expect(fresh?.equals(seal.keyName)).toBe(true);
});
