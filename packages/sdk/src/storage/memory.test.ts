import { expect, test } from "vitest";
import { storageContract } from "../testing/storage-contract.ts";
import { MemoryDisk, memoryStorage } from "./memory.ts";

test.each(storageContract)("[D1] memory: $rule", async ({ check }) => {
  const disk = new MemoryDisk();
  await expect(check(async () => memoryStorage(disk))).resolves.toBeUndefined();
});
