import { giveTime } from "../../../../scripts/testing/give-time.ts";
import { until } from "../../../../scripts/testing/until.ts";
import "fake-indexeddb/auto";
import { expect, test, vi } from "vitest";
import { StorageFailure } from "../engine/ports.ts";
import { added, storageContract, write } from "../testing/storage-contract.ts";
import { Dexie } from "./dexie.ts";
import { indexedDbStorage } from "./indexeddb.ts";

// Dexie looks for them when it is loaded, and another file of this worker may have done that before.
Dexie.dependencies = { indexedDB, IDBKeyRange };
let stores = 0;

test.each(storageContract)("[D1] fake IndexedDB: $rule", async ({ check }) => {
  const name = `contract-${++stores}`;
  await expect(check(async () => indexedDbStorage({ name }))).resolves.toBeUndefined();
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
  expect((await storage.readQueue()).mutations.map((m) => m.clientTxId)).toEqual(["a"]);
});

test("[D7] [D8] a failure that repeats, or cannot be retried, is a typed failure with a sentence", async () => {
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

// What Chromium 156 says on a full disk.
const NO_SPACE = new DOMException(
  "Connection is closing because of: IO error: x/000003.log: FILE_ERROR_NO_SPACE (ChromeMethodBFE: 3::WritableFileAppend::8)",
  "UnknownError",
);
const NO_BLOBS = new DOMException("Failed to write blobs (IOError)", "DataError");
const NOT_OPENED = new DOMException("Internal error opening backing store for indexedDB.open.", "UnknownError");

test.each([
  ["a write finds no space, and the store cannot be opened again", NO_SPACE],
  ["a large write finds no space", NO_BLOBS],
])("[D24] %s: the disk is full", async (_, error) => {
  const storage = indexedDbStorage({ name: `full-${++stores}` });
  await storage.open("c");
  vi.spyOn(IDBDatabase.prototype, "transaction").mockImplementation(() => {
    throw error;
  });
  vi.spyOn(indexedDB, "open").mockImplementation(() => {
    throw NOT_OPENED;
  });
  const failed = {
    name: "StorageFailure",
    code: "full",
    message: expect.stringMatching(/disk is full.*in memory only/),
  };
  await expect(storage.enqueue([added(write("a"))])).rejects.toMatchObject(failed);
});

test.each([
  ["QuotaExceededError", "full"],
  ["NotAllowedError", "damaged"],
  [undefined, "damaged"],
])("[D24] a store that cannot be opened, where another file gives %s, is %s", async (name, code) => {
  const close = () => (name ? Promise.reject(new DOMException("", name)) : Promise.resolve());
  const file = { createWritable: async () => ({ write: async () => {}, close }) };
  const folder = { getFileHandle: async () => file, removeEntry: async () => {} };
  vi.stubGlobal("navigator", { storage: { getDirectory: async () => folder } });
  vi.spyOn(indexedDB, "open").mockImplementation(() => {
    throw NOT_OPENED;
  });
  await expect(indexedDbStorage({ name: `closed-${++stores}` }).open("c")).rejects.toMatchObject({ code });
});

test("[D30] a store that was cleared while in use is a disk failure, reported before anything is written", async () => {
  const name = `emptied-${++stores}`;
  const storage = indexedDbStorage({ name });
  const lost = new Promise<StorageFailure>((resolve) => storage.watch?.(resolve));
  await storage.open("c");
  await storage.enqueue([added(write("a"))]);
  await Dexie.delete(name);
  await expect(lost).resolves.toMatchObject({ code: "cleared", message: expect.stringContaining("cleared") });
  await expect(storage.enqueue([added(write("b"))])).rejects.toThrow(/cleared while the page was open/);
  await expect(storage.takeLead()).rejects.toBeInstanceOf(StorageFailure);
  await storage.close();
  // As after a reload.
  expect((await indexedDbStorage({ name }).open("d")).mutations).toEqual([]);
});

test("[D7] a database that was closed under the client, and is still the same, is reopened", async () => {
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
  expect((await storage.readQueue()).mutations.map((m) => m.clientTxId)).toEqual(["a", "b"]);
  expect(lost).toEqual([]);
  await storage.close();
});

test("[D31] a store of the first version is read unchanged, and continues in the current version", async () => {
  const name = `first-version-${++stores}`;
  const old = new Dexie(name);
  old.version(1).stores({ mutations: "++seq", rows: "[model+id]", meta: "key", parts: "++n" });
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
  expect(clientId).toBe("c");
  expect(mutations.map((m) => m.clientTxId)).toEqual(["a"]);
  expect(rows.position).toBe(5);
  expect([...(rows.tables.slide?.entries() ?? [])].sort()).toEqual([
    ["s1", row("s1")],
    ["s2", row("s2")],
  ]);
  const { generation } = await storage.takeLead();
  const changes = [
    { record: { model: "Slide", id: "s1" }, value: undefined },
    { record: { model: "Slide", id: "s2" }, value: { ...row("s2"), syncId: 6 } },
  ];
  await storage.keepRows({ logId: "log", from: 5, to: 6, changes, settled: [] }, generation);
  const now = (await storage.readQueue()).rows;
  expect([...(now?.tables.slide?.entries() ?? [])]).toEqual([["s2", { ...row("s2"), syncId: 6 }]]);
  await storage.close();
});

test("[D3] writes are durable in the strict sense when the promise resolves, not when the request does", async () => {
  const storage = indexedDbStorage({ name: `strict-${++stores}` });
  await storage.open("c");
  const transactions = vi.spyOn(IDBDatabase.prototype, "transaction");
  await storage.enqueue([added(write("a"), write("b"))]);
  expect(transactions.mock.calls).toEqual([[["mutations"], "readwrite", { durability: "strict" }]]);
});

const raw = (name: string, version: number) =>
  new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(name, version);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

test("[D10] an open that another tab blocks times out with an error", async () => {
  const name = `blocked-${++stores}`;
  // A tab of an older version that does not hear that it should let go.
  const older = await raw(name, 1);
  await expect(indexedDbStorage({ name, openMs: 50 }).open("c")).rejects.toMatchObject({ code: "blocked" });
  older.close();
});

const recordOf = (id: string) => ({ model: "slide", id });
const put = (id: string, syncId: number) => ({
  record: recordOf(id),
  value: { data: { id }, archivedAt: null, syncId },
});
const gone = (id: string) => ({ record: recordOf(id), value: undefined });

/** What lies on the disk: objects in the table of rows, and rows in parts. */
async function lying(name: string): Promise<{ rows: number; inParts: number }> {
  const db = await new Dexie(name).open();
  const parts = (await db.table("parts").toArray()) as { rows: string }[];
  const inParts = parts.flatMap(({ rows }) => JSON.parse(rows) as object[]).length;
  const rows = await db.table("rows").count();
  db.close();
  return { rows, inParts };
}

test("[D50] a client that starts reads its rows some at a time, so that the page can react in between, and gets all of them", async () => {
  const name = `pieces-${++stores}`;
  const storage = indexedDbStorage({ name });
  await storage.open("c");
  const { generation } = await storage.takeLead();
  const ids = Array.from({ length: 5_000 }, (_, i) => `s${i}`);
  const page = { logId: "log", stamp: 1, first: true, cursor: null };
  await storage.keepPage({ ...page, changes: ids.map((id) => put(id, 1)) }, generation);
  // Later changes are objects of their own: some of earlier records, some of new ones, and deleted ones.
  const later = Array.from({ length: 4_500 }, (_, i) => put(`s${i + 1_000}`, 2));
  const changes = [...later, gone("s0"), gone("s4999")];
  await storage.keepRows({ logId: "log", from: 1, to: 2, changes, settled: [] }, generation);
  await storage.close();

  const getAll = vi.spyOn(IDBObjectStore.prototype, "getAll");
  const { rows } = await indexedDbStorage({ name }).open("d");
  // The browser tells of each request in a task of its own.
  const found = getAll.mock.results.map(({ value }, i) => ({
    of: (getAll.mock.contexts[i] as IDBObjectStore).name,
    count: (value as IDBRequest<unknown[]>).result.length,
  }));
  expect(found.filter(({ of }) => of === "parts").map(({ count }) => count)).toEqual([4, 4, 2, 0]);
  expect(found.filter(({ of }) => of === "rows").map(({ count }) => count)).toEqual([2_000, 2_000, 501, 0]);
  const read = [...(rows.tables.slide?.entries() ?? [])].map(([id, { syncId }]) => `${id} at ${syncId}`).sort();
  const expected = [
    ...ids.slice(1, 1_000).map((id) => `${id} at 1`),
    ...later.map(({ record }) => `${record.id} at 2`),
  ];
  expect(read).toEqual(expected.filter((one) => !one.startsWith("s4999 ")).sort());
});

test("[D33] records that came and went leave nothing behind, and those that stay, or came back, are there", async () => {
  const name = `pruned-${++stores}`;
  const storage = indexedDbStorage({ name, pruneAt: 100 });
  await storage.open("c");
  const { generation } = await storage.takeLead();
  const ids = Array.from({ length: 3_000 }, (_, i) => `s${i}`);
  const page = { logId: "log", stamp: 1, first: true, cursor: null };
  await storage.keepPage({ ...page, changes: ids.map((id) => put(id, 1)) }, generation);
  const keep = (from: number, changes: readonly (ReturnType<typeof put> | ReturnType<typeof gone>)[]) =>
    storage.keepRows({ logId: "log", from, to: from + 1, changes, settled: [] }, generation);
  await keep(
    1,
    ["new1", "new2"].map((id) => put(id, 2)),
  );
  await keep(2, [...ids.slice(0, 2_500), "new1"].map(gone));
  // While the others are pruned.
  await keep(
    3,
    ["s7", "s8"].map((id) => put(id, 4)),
  );
  await keep(4, [gone("s8")]);
  await until(async () => expect(await lying(name)).toEqual({ rows: 2, inParts: 500 }));
  await storage.close();
  const { rows } = await indexedDbStorage({ name }).open("d");
  const there = [...(rows.tables.slide?.entries() ?? [])].map(([id]) => id);
  expect(there.sort()).toEqual([...ids.slice(2_500), "new2", "s7"].sort());
});

test("[D33] the next leader removes what a tab that was closed left of deleted records", async () => {
  const name = `left-${++stores}`;
  const before = indexedDbStorage({ name, pruneAt: Number.POSITIVE_INFINITY });
  await before.open("c");
  const { generation } = await before.takeLead();
  const ids = Array.from({ length: 1_200 }, (_, i) => `s${i}`);
  await before.keepPage(
    { logId: "log", stamp: 1, first: true, cursor: null, changes: ids.map((id) => put(id, 1)) },
    generation,
  );
  await before.keepRows({ logId: "log", from: 1, to: 2, changes: ids.slice(1).map(gone), settled: [] }, generation);
  await before.close();
  expect(await lying(name)).toEqual({ rows: 1_199, inParts: 1_200 });
  const storage = indexedDbStorage({ name });
  await storage.open("d");
  expect(await lying(name)).toEqual({ rows: 1_199, inParts: 1_200 });
  await storage.takeLead();
  await until(async () => expect(await lying(name)).toEqual({ rows: 0, inParts: 1 }));
  await storage.close();
});

test("[ER9] no value of an erased record stays in the store, even if few records are deleted or the tab was closed before", async () => {
  const name = `erased-${++stores}`;
  const storage = indexedDbStorage({ name });
  await storage.open("c");
  const { generation } = await storage.takeLead();
  const page = { logId: "log", stamp: 1, first: true, cursor: null };
  await storage.keepPage({ ...page, changes: ["s1", "s2", "s3"].map((id) => put(id, 1)) }, generation);
  const erase = (from: number, id: string) =>
    storage.keepRows(
      { logId: "log", from, to: from + 1, changes: [{ ...gone(id), erased: true }], settled: [] },
      generation,
    );
  await erase(1, "s1");
  await until(async () => expect(await lying(name)).toEqual({ rows: 0, inParts: 2 }));
  // The tab ends in the middle of it: the next one that leads goes on.
  await Promise.all([erase(2, "s2"), storage.close()]);
  const next = indexedDbStorage({ name });
  await next.open("d");
  await next.takeLead();
  await until(async () => expect(await lying(name)).toEqual({ rows: 0, inParts: 1 }));
  await next.close();
});

test("[D47] a new record with the id of an erased one leaves no value of that in the store, however soon it is changed", async () => {
  const name = `erased-${++stores}`;
  const storage = indexedDbStorage({ name });
  await storage.open("c");
  const { generation } = await storage.takeLead();
  const page = { logId: "log", stamp: 1, first: true, cursor: null };
  await storage.keepPage({ ...page, changes: ["s1", "s2"].map((id) => put(id, 1)) }, generation);
  const range = { logId: "log", settled: [] };
  await Promise.all([
    storage.keepRows({ ...range, from: 1, to: 3, changes: [{ ...put("s1", 3), erased: true }] }, generation),
    storage.keepRows({ ...range, from: 3, to: 4, changes: [put("s1", 4)] }, generation),
  ]);
  await until(async () => expect(await lying(name)).toEqual({ rows: 1, inParts: 1 }));
  await storage.close();
  const { rows } = await indexedDbStorage({ name }).open("d");
  expect(rows.tables.slide?.get("s1")).toEqual(put("s1", 4).value);
  expect(rows.tables.slide?.size).toBe(2);
});

test("[D33] a snapshot that replaces all rows while they are pruned stays whole", async () => {
  const name = `replaced-${++stores}`;
  const storage = indexedDbStorage({ name, pruneAt: 10 });
  await storage.open("c");
  const { generation } = await storage.takeLead();
  const ids = Array.from({ length: 5_000 }, (_, i) => `s${i}`);
  const page = { first: true, cursor: null };
  await storage.keepPage({ ...page, logId: "log", stamp: 1, changes: ids.map((id) => put(id, 1)) }, generation);
  await storage.keepRows({ logId: "log", from: 1, to: 2, changes: ids.map(gone), settled: [] }, generation);
  await storage.keepPage({ ...page, logId: "log", stamp: 9, changes: ids.map((id) => put(id, 9)) }, generation);
  await giveTime(200);
  await storage.close();
  const { rows } = await indexedDbStorage({ name }).open("d");
  expect(rows.tables.slide?.size).toBe(5_000);
});
