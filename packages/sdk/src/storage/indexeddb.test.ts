import "fake-indexeddb/auto";
import { expect, test } from "vitest";
import { storageContract } from "../testing/storage-contract.ts";
import { indexedDbStorage } from "./indexeddb.ts";

let stores = 0;

test.each(storageContract)("[D1] fake IndexedDB: $rule", async ({ check }) => {
  const name = `contract-${++stores}`;
  await expect(check(async () => indexedDbStorage({ name }))).resolves.toBeUndefined();
});
