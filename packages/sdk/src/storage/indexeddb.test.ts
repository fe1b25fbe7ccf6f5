import "fake-indexeddb/auto";
import { Dexie } from "dexie";
import { expect, test, vi } from "vitest";
import type { Mutation } from "../core/mutation.ts";
import { StorageFailure } from "../engine/ports.ts";
import { added, storageContract } from "../testing/storage-contract.ts";
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
  await storage.enqueue([added(write("a"))]);
  lost.mockImplementationOnce(() => {
    throw new DOMException("Connection is closing.", name);
  });
  expect((await storage.look()).mutations.map((m) => m.clientTxId)).toEqual(["a"]);
});

test("[D7] [D8] what fails twice, or cannot be helped, is a typed failure with a sentence", async () => {
  const storage = indexedDbStorage({ name: `broken-${++stores}` });
  await storage.open("c");
  const broken = vi.spyOn(IDBDatabase.prototype, "transaction").mockImplementation(() => {
    throw new DOMException("Connection is closing.", "InvalidStateError");
  });
  await expect(storage.enqueue([added(write("a"))])).rejects.toBeInstanceOf(StorageFailure);
  broken.mockImplementation(() => {
    throw new DOMException("Full.", "QuotaExceededError");
  });
  await expect(storage.enqueue([added(write("a"))])).rejects.toThrow(/QuotaExceededError.*in memory only/s);
});

test("[D30] a store that was emptied under a client is not taken for its own, and is told of before anything is written", async () => {
  const name = `emptied-${++stores}`;
  const storage = indexedDbStorage({ name });
  const lost = new Promise<StorageFailure>((resolve) => storage.watch?.(resolve));
  await storage.open("c");
  await storage.enqueue([added(write("a"))]);
  await Dexie.delete(name);
  await expect(lost).resolves.toMatchObject({ code: "cleared", message: expect.stringContaining("cleared") });
  await expect(storage.enqueue([added(write("b"))])).rejects.toThrow(/cleared while the page was open/);
  await expect(storage.lead()).rejects.toBeInstanceOf(StorageFailure);
  await storage.close();
  // As after a reload.
  expect((await indexedDbStorage({ name }).open("d")).mutations).toEqual([]);
});

test("[D7] a database that was closed under a client, and is the one it was, goes on", async () => {
  const name = `closed-${++stores}`;
  const storage = indexedDbStorage({ name });
  const lost: string[] = [];
  storage.watch?.(({ message }) => void lost.push(message));
  await storage.open("c");
  await storage.enqueue([added(write("a"))]);
  // As a newer version of the app does that has another schema to put there.
  const newer = indexedDB.open(name, 21);
  await new Promise((resolve) => newer.addEventListener("success", resolve));
  newer.result.close();
  await storage.enqueue([added(write("b"))]);
  expect((await storage.look()).mutations.map((m) => m.clientTxId)).toEqual(["a", "b"]);
  expect(lost).toEqual([]);
  await storage.close();
});

test("[D31] a store of the first version is read as it is, and goes on in the present one", async () => {
  const name = `first-version-${++stores}`;
  const old = new Dexie(name);
  old.version(1).stores({ mutations: "++seq", rows: "[model+id]", meta: "key" });
  const row = (id: string) => ({ data: { id }, archivedAt: null, syncId: 5 });
  await old.table("rows").bulkPut(["s1", "s2"].map((id) => ({ model: "slide", id, ...row(id) })));
  await old.table("meta").bulkPut([
    { key: "client", clientId: "c" },
    { key: "log", logId: "log", position: 5 },
  ]);
  await old.table("mutations").add({ ...write("a"), stage: { phase: "queued" } });
  old.close();

  const storage = indexedDbStorage({ name });
  const { clientId, mutations, rows } = await storage.open("d");
  expect([clientId, mutations.map((m) => m.clientTxId), rows.position]).toEqual(["c", ["a"], 5]);
  expect([...(rows.tables.slide?.entries() ?? [])].sort()).toEqual([
    ["s1", row("s1")],
    ["s2", row("s2")],
  ]);
  const { generation } = await storage.lead();
  const changes = [
    { record: { model: "Slide", id: "s1" }, value: undefined },
    { record: { model: "Slide", id: "s2" }, value: { ...row("s2"), syncId: 6 } },
  ];
  await storage.keepRows({ logId: "log", from: 5, to: 6, changes, settled: [] }, generation);
  const now = (await storage.look()).rows;
  expect([...(now?.tables.slide?.entries() ?? [])]).toEqual([["s2", { ...row("s2"), syncId: 6 }]]);
  await storage.close();
});

test("[D3] writes are durable in the strict sense when the promise resolves, not when the request does", async () => {
  const storage = indexedDbStorage({ name: `strict-${++stores}` });
  await storage.open("c");
  const asked = vi.spyOn(IDBDatabase.prototype, "transaction");
  await storage.enqueue([added(write("a"), write("b"))]);
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
