import { beforeEach, expect, test } from "vitest";
import { added, storageContract, write } from "../testing/storage-contract.ts";
import { type KeyValueChange, type KeyValueStore, keyValueStorage } from "./key-value.ts";

const adding = (name: string) => added(write(name));

/** A store in memory that reports each call. */
class Store implements KeyValueStore {
  readonly texts = new Map<string, string>();
  readonly batches: (readonly KeyValueChange[])[] = [];
  /** Thrown by the next write. */
  trouble: Error | undefined;
  isClosed = false;

  get(key: string) {
    return this.texts.get(key) ?? null;
  }

  async entries(from: string, to: string) {
    // In no order, as the contract of the store allows.
    return [...this.texts].filter(([key]) => key >= from && key < to).reverse();
  }

  async write(changes: readonly KeyValueChange[]) {
    await Promise.resolve();
    if (this.trouble) throw this.trouble;
    this.batches.push(changes);
    for (const change of changes)
      if (change.type === "put") this.texts.set(change.key, change.value);
      else if (change.type === "delete") this.texts.delete(change.key);
      else for (const [key] of await this.entries(change.from, change.to)) this.texts.delete(key);
  }

  close() {
    this.isClosed = true;
  }
}

let store: Store;
beforeEach(() => {
  store = new Store();
});

test.each(storageContract)("[D1] texts by key: $rule", async ({ check }) => {
  const storage = keyValueStorage(store);
  await expect(check(async () => storage)).resolves.toBeUndefined();
});

test.each(storageContract)("[D1] texts by key, opened each time: $rule", async ({ check }) => {
  // One client at a time has the store: the operations of a handle have ended before the next is opened.
  const storages: ReturnType<typeof keyValueStorage>[] = [];
  await expect(
    check(async () => {
      storages.push(keyValueStorage(store));
      return new Proxy({} as ReturnType<typeof keyValueStorage>, { get: (_, name: "open") => storages.at(-1)?.[name] });
    }),
  ).resolves.toBeUndefined();
});

test("[D38] an operation is one batch, so that a process which ends leaves all or nothing of it", async () => {
  const storage = keyValueStorage(store);
  await storage.open("c");
  store.batches.length = 0;
  await storage.enqueue([adding("a"), adding("b")]);
  expect(store.batches).toHaveLength(1);
  expect(store.batches[0]?.map((change) => change.type === "put" && change.key)).toContain("queue/2");
});

test("[D38] operations that start at once run one after the other", async () => {
  const storage = keyValueStorage(store);
  const results = await Promise.all([
    storage.open("c"),
    storage.enqueue([adding("a")]),
    storage.enqueue([adding("b")]),
  ]);
  expect(results[2].places).toEqual([[2]]);
  expect((await storage.readQueue()).mutations.map((m) => m.clientTxId)).toEqual(["a", "b"]);
});

test("[D38] a failure of the store is a storage failure with its reason, and later operations still run", async () => {
  const storage = keyValueStorage(store);
  await storage.open("c");
  store.trouble = new Error("SQLITE_FULL");
  await expect(storage.enqueue([adding("a")])).rejects.toMatchObject({
    name: "StorageFailure",
    code: "full",
    message: expect.stringContaining("SQLITE_FULL"),
  });
  store.trouble = undefined;
  expect((await storage.enqueue([adding("b")])).places).toEqual([[1]]);
});

test("[D38] an entry that is not JSON is a damaged store, and one of a later format is newer", async () => {
  await keyValueStorage(store).open("c");
  store.texts.set("meta", JSON.stringify({ format: 2 }));
  await expect(keyValueStorage(store).open("c")).rejects.toMatchObject({ code: "newer" });
  store.texts.set("meta", "{");
  await expect(keyValueStorage(store).open("c")).rejects.toMatchObject({
    code: "damaged",
    message: expect.stringContaining('"meta"'),
  });
});

test("[D38] closing waits for the operations that run, and a destroyed store is empty and closed", async () => {
  const storage = keyValueStorage(store);
  await storage.open("c");
  const enqueued = storage.enqueue([adding("a")]);
  await storage.close();
  expect(store.isClosed).toBe(true);
  expect(store.batches.flat().some((change) => change.type === "put" && change.key === "queue/1")).toBe(true);
  await enqueued;
  await keyValueStorage(store).destroy();
  expect(store.texts.size).toBe(0);
});
