import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import type { Storage } from "../engine/ports.ts";
import { added, storageContract, write } from "../testing/storage-contract.ts";
import { storageInFile } from "./storage-in-file.ts";
import { openStoreFile, type StoreFile } from "./store-file.ts";

let folder = "";
let file: StoreFile | undefined;
beforeEach(() => {
  folder = temporaryFolder("contract", onTestFinished);
  file = undefined;
});
afterEach(() => file?.close());

/** Several handles on one file stand for several clients. */
async function handle(): Promise<Storage> {
  file ??= openStoreFile(join(folder, "agent.db"), "s");
  const storage = storageInFile(file);
  return {
    ...storage,
    destroy: async () => {
      file = undefined;
      await storage.destroy();
    },
  };
}

test.each(storageContract)("[D1] a file: $rule", async ({ check }) => {
  await expect(check(handle)).resolves.toBeUndefined();
});

test.each(storageContract)("[D1] a file that is closed and opened each time: $rule", async ({ check }) => {
  const reopened = async (): Promise<Storage> => {
    file?.close();
    file = undefined;
    return handle();
  };
  // If a check needs two at once, the second takes the file from the first, and only its results count.
  const storages: Storage[] = [];
  const last = () => storages.at(-1) as Storage;
  await expect(
    check(async () => {
      storages.push(await reopened());
      return new Proxy({} as Storage, { get: (_, name: keyof Storage) => last()[name] });
    }),
  ).resolves.toBeUndefined();
});

test("[D1][R73] a file of an earlier version of this package keeps its rows and writes, and gets what it lacks", async () => {
  const storage = await handle();
  await storage.open("c");
  const { generation } = await storage.takeLead();
  const page = { logId: "log", stamp: 9, first: true, changes: [], cursor: null };
  await storage.keepPage(page, generation);
  await storage.enqueue([added(write("a"))]);
  file?.db.exec("alter table store drop column at; alter table store drop column record_bytes");
  file?.close();
  file = undefined;
  const later = await handle();
  const { rows, mutations } = await later.open("c");
  expect([rows.position, rows.at, mutations.length]).toEqual([9, undefined, 1]);
  const { generation: next } = await later.takeLead();
  await later.keepRows({ logId: "log", from: 9, to: 9, changes: [], settled: [], at: 5 }, next);
  await later.keepRecordBytes(1_024);
  expect(await later.open("c")).toMatchObject({ rows: { at: 5 }, recordBytes: 1_024 });
});
