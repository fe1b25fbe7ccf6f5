import { expect, test } from "vitest";
import { storageContract } from "../testing/storage-contract.ts";
import { indexedDbStorage } from "./indexeddb.ts";

test.each(storageContract)("[D1] Chromium's IndexedDB: $rule", async ({ check }) => {
  const name = `contract-${crypto.randomUUID()}`;
  await expect(check(async () => indexedDbStorage({ name }))).resolves.toBeUndefined();
});
