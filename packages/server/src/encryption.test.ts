import { expect, test } from "vitest";
import { createSeal, newMasterKey } from "./encryption.ts";

const [old, key, foreign] = [newMasterKey(), newMasterKey(), newMasterKey()].map((text) => Buffer.from(text, "base64"));

test("[W19] what is sealed opens for its owner only, with its key only, and not when it was changed", () => {
  const seal = createSeal([key as Buffer]);
  const sealed = seal.seal("whsec_é", "org_1/we_1");
  expect(seal.open(sealed, "org_1/we_1")).toBe("whsec_é");
  expect(sealed.includes("whsec")).toBe(false);
  expect(seal.seal("whsec_é", "org_1/we_1").equals(sealed)).toBe(false);
  expect(seal.open(sealed, "org_1/we_2")).toBeUndefined();
  expect(createSeal([foreign as Buffer]).open(sealed, "org_1/we_1")).toBeUndefined();
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed);
    changed[i] = (changed[i] as number) ^ 1;
    expect(seal.open(changed, "org_1/we_1")).toBeUndefined();
    expect(seal.open(sealed.subarray(0, i), "org_1/we_1")).toBeUndefined();
  }
});

test("[W19] of several keys the newest seals, and all open", () => {
  const before = createSeal([old as Buffer]).seal("secret", "o");
  const seal = createSeal([key as Buffer, old as Buffer]);
  expect(seal.open(before, "o")).toBe("secret");
  const [stale, fresh] = [before, seal.seal("secret", "o")].map((sealed) => sealed.subarray(0, seal.mark.length));
  expect([stale?.equals(seal.mark), fresh?.equals(seal.mark)]).toEqual([false, true]);
});
