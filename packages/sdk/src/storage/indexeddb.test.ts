import "fake-indexeddb/auto";
import { expect, test, vi } from "vitest";
import type { Mutation } from "../core/mutation.ts";
import { StorageFailure } from "../engine/ports.ts";
import { storageContract } from "../testing/storage-contract.ts";
import { indexedDbStorage } from "./indexeddb.ts";

let stores = 0;

test.each(storageContract)("[D1] fake IndexedDB: $rule", async ({ check }) => {
  const name = `contract-${++stores}`;
  await expect(check(async () => indexedDbStorage({ name }))).resolves.toBeUndefined();
});

const write = (clientTxId: string): Mutation => ({
  clientTxId,
  seq: undefined,
  operations: [],
  reads: [],
  body: "{}",
  bytes: 2,
  createdAt: 0,
  attempts: 0,
  keys: [],
  landed: [],
  stage: { phase: "saving" },
});

test.each(["InvalidStateError", "UnknownError"])("[D7] a handle lost with %s is opened once more", async (name) => {
  const storage = indexedDbStorage({ name: `lost-${++stores}` });
  await storage.open("c");
  const lost = vi.spyOn(IDBDatabase.prototype, "transaction").mockImplementationOnce(() => {
    throw new DOMException("Connection is closing.", name);
  });
  await storage.enqueue([write("a")]);
  lost.mockImplementationOnce(() => {
    throw new DOMException("Connection is closing.", name);
  });
  expect((await storage.lead()).mutations.map((m) => m.clientTxId)).toEqual(["a"]);
});

test("[D7] [D8] what fails twice, or cannot be helped, is a typed failure with a sentence", async () => {
  const storage = indexedDbStorage({ name: `broken-${++stores}` });
  await storage.open("c");
  const broken = vi.spyOn(IDBDatabase.prototype, "transaction").mockImplementation(() => {
    throw new DOMException("Connection is closing.", "InvalidStateError");
  });
  await expect(storage.enqueue([write("a")])).rejects.toBeInstanceOf(StorageFailure);
  broken.mockImplementation(() => {
    throw new DOMException("Full.", "QuotaExceededError");
  });
  await expect(storage.enqueue([write("a")])).rejects.toThrow(/QuotaExceededError.*in memory only/s);
});

test("[D3] writes are durable in the strict sense when the promise resolves, not when the request does", async () => {
  const storage = indexedDbStorage({ name: `strict-${++stores}` });
  await storage.open("c");
  const asked = vi.spyOn(IDBDatabase.prototype, "transaction");
  await storage.enqueue([write("a"), write("b")]);
  expect(asked.mock.calls).toEqual([[["mutations"], "readwrite", { durability: "strict" }]]);
});

const raw = (name: string, version: number) =>
  new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(name, version);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

test("[D10] an open that another tab blocks ends by the clock, and says so", async () => {
  const name = `blocked-${++stores}`;
  // A tab of an older version that does not hear that it should let go.
  const older = await raw(name, 1);
  await expect(indexedDbStorage({ name, openMs: 50 }).open("c")).rejects.toMatchObject({ code: "blocked" });
  older.close();
});
