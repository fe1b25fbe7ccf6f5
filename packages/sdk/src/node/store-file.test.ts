import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { StorageFailure } from "../engine/ports.ts";
import { isSyncError } from "../errors.ts";
import { added, write } from "../testing/storage-contract.ts";
import { storageInFile } from "./storage-in-file.ts";
import { openStoreFile, type StoreFile } from "./store-file.ts";

let folder = "";
const open: StoreFile[] = [];
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = temporaryFolder("store", onTestFinished);
});
afterEach(() => {
  for (const file of open.splice(0)) file.close();
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

const path = () => join(folder, "agent.db");
const HOLDER = fileURLToPath(new URL("./testing/hold-file.ts", import.meta.url));

function opened(store = "s"): StoreFile {
  const file = openStoreFile(path(), store);
  open.push(file);
  return file;
}

function refusal(store = "s"): unknown {
  try {
    opened(store);
  } catch (error) {
    return error;
  }
  return undefined;
}

/** A process that holds the file. */
async function holder(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["--conditions=holdfast-source", "--import", "tsx", HOLDER, path()], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  children.push(child);
  await once(child, "message");
  return child;
}

const names = async () => (await storageInFile(opened()).open("c")).mutations.map((m) => m.clientTxId);

test("[D21] a second client is refused while the first one has the file, and nothing of the lock outlives a kill", async () => {
  const child = await holder();
  const error = refusal();
  expect(isSyncError(error) && error.code).toBe("store_in_use");
  expect(String(error)).toContain(path());
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(await names()).toEqual(["of the holder"]);
});

test("[D21] so is a second one in the same process, until the first is closed", async () => {
  const first = opened();
  await storageInFile(first).enqueue([added(write("a"))]);
  expect(refusal()).toMatchObject({ code: "store_in_use" });
  first.close();
  expect(await names()).toEqual(["a"]);
});

test("the file is for its user alone, and folders that are missing are made", () => {
  const deep = join(folder, "state", "of", "agent.db");
  openStoreFile(deep, "s").close();
  expect(statSync(deep).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(folder, "state", "of"))).toEqual(["agent.db"]);
});

test("a store that is destroyed leaves nothing on the disk, and its name is free", async () => {
  const storage = storageInFile(opened());
  await storage.open("c");
  await storage.enqueue([added(write("a"))]);
  await storage.destroy();
  expect(readdirSync(folder)).toEqual([]);
  expect(await names()).toEqual([]);
});

test("[D22] a store of a newer version is refused, and stays as it is", async () => {
  const file = opened();
  await storageInFile(file).enqueue([added(write("a"))]);
  file.db.exec("pragma user_version = 99");
  file.close();
  const before = readFileSync(path());
  expect(refusal()).toMatchObject({ code: "store_unusable", message: expect.stringMatching(/newer version/) });
  expect(readFileSync(path()).equals(before)).toBe(true);
});

test("[D22] a store of another name is refused: its queue is meant for another server or person", async () => {
  const file = opened("of ann");
  await storageInFile(file).enqueue([added(write("a"))]);
  file.close();
  expect(refusal("of ben")).toMatchObject({
    code: "store_unusable",
    message: expect.stringMatching(/of ann.*of ben/s),
  });
  expect((await storageInFile(opened("of ann")).open("c")).mutations).toHaveLength(1);
});

test.each([
  ["a text", (at: string) => writeFileSync(at, "export const agent = 1;\n".repeat(99)), /another kind of file/],
  [
    "another program's database",
    (at: string) => {
      const file = openStoreFile(at, "s");
      file.db.exec("drop table record; pragma application_id = 0");
      file.close();
    },
    /another program/,
  ],
])("[D22] %s is refused and not touched", (_, make, sentence) => {
  make(path());
  const before = readFileSync(path());
  expect(refusal()).toMatchObject({ code: "store_unusable", message: expect.stringMatching(sentence) });
  expect(readFileSync(path()).equals(before)).toBe(true);
  expect(readdirSync(folder)).toEqual(["agent.db"]);
});

/** A closed store with so much in it that damage in its middle is noticed. */
async function filled(): Promise<void> {
  const storage = storageInFile(opened());
  await storage.open("c");
  await storage.enqueue([added(...Array.from({ length: 500 }, (_, i) => write(`w${i}`)))]);
  await storage.close();
}

const overwrite = (from: number, bytes: Buffer) => {
  const whole = readFileSync(path());
  bytes.copy(whole, from);
  writeFileSync(path(), whole);
};

test.each([
  ["with zeros at its beginning", () => overwrite(0, Buffer.alloc(4_096))],
  ["with noise in its middle", () => overwrite(8_192, Buffer.alloc(16_384, 0xa7))],
  ["cut off", () => writeFileSync(path(), readFileSync(path()).subarray(0, 40_000))],
  [
    "with text that cannot be read",
    () => {
      const whole = readFileSync(path());
      const at = whole.indexOf('{"clientTxId":"w250"');
      whole.write("[[[[", at);
      writeFileSync(path(), whole);
    },
  ],
])("[D23] a store %s is kept under another name, and the next start makes a new one", async (_, damage) => {
  await filled();
  damage();
  let failure: unknown;
  try {
    await storageInFile(opened()).open("c");
  } catch (error) {
    failure = error;
  }
  expect(failure).toMatchObject({ name: "StorageFailure", code: "damaged" });
  const [kept = "", ...others] = readdirSync(folder);
  expect(kept).toEqual(expect.stringMatching(/^agent\.db\.damaged-/));
  expect(others).toEqual([]);
  expect(String(failure)).toContain(join(folder, kept));
  // Whatever can be saved from it is still there.
  expect(readFileSync(join(folder, kept)).includes('{"clientTxId":"w')).toBe(true);
  expect(await names()).toEqual([]);
});

test("[D24] a write fails if the file was removed or replaced while in use", async () => {
  const storage = storageInFile(opened());
  await storage.open("c");
  await storage.enqueue([added(write("a"))]);
  renameSync(path(), `${path()}.elsewhere`);
  const failure = await storage.enqueue([added(write("b"))]).catch((error: unknown) => error);
  expect(failure).toMatchObject({ name: "StorageFailure", code: "lost" });
  expect(String(failure)).toMatch(/removed or replaced.*in memory only/s);
  renameSync(`${path()}-wal`, `${path()}.elsewhere-wal`);
  writeFileSync(path(), "");
  writeFileSync(`${path()}-wal`, "another's");
  await expect(storage.enqueue([added(write("c"))])).rejects.toThrow(/removed or replaced/);
  await storage.close();
  expect(readFileSync(`${path()}-wal`, "utf8")).toBe("another's");
});

test("[D24] a full disk is said in a sentence, and what was there stays", async () => {
  const file = opened();
  const storage = storageInFile(file);
  await storage.open("c");
  await storage.enqueue([added(write("a"))]);
  const { page_count: pages } = file.db.prepare("pragma page_count").get() as { page_count: number };
  file.db.exec(`pragma max_page_count = ${pages}`);
  const large = { ...write("b"), body: "x".repeat(100_000) };
  const failure = await storage.enqueue([added(large)]).catch((error: unknown) => error);
  expect(failure).toMatchObject({ name: "StorageFailure", code: "full" });
  expect(String(failure)).toMatch(/The disk is full.*agent\.db.*in memory only/s);
  file.close();
  expect(await names()).toEqual(["a"]);
});

test.skipIf(process.platform === "win32")("[D24] a file that may not be written is said in a sentence", () => {
  opened().close();
  chmodSync(path(), 0o400);
  const failure = asNobody(() => refusal());
  expect(failure).toMatchObject({ name: "StorageFailure", code: "unavailable" });
  expect(String(failure)).toMatch(/agent\.db.*(read-only|cannot be|unable to open).*in memory only/s);
});

/** Root may write whatever it likes: then as a user who may not. */
function asNobody<T>(work: () => T): T {
  if (process.geteuid?.() !== 0) return work();
  for (const one of [folder, path()]) chownSync(one, 65_534, 65_534);
  process.seteuid?.(65_534);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}

test("[D24] a store without its tables is said in a sentence, and is free afterwards", () => {
  const file = opened();
  file.db.exec("drop table mutation");
  expect(() => storageInFile(file)).toThrow(/agent\.db failed \(.*mutation.*in memory only/s);
  expect(() => storageInFile(opened())).toThrow(StorageFailure);
});

test("a store behind a link is the one that the link leads to", async () => {
  const link = join(folder, "link.db");
  await storageInFile(opened()).enqueue([added(write("a"))]);
  symlinkSync(path(), link);
  expect(() => openStoreFile(link, "s")).toThrow(expect.objectContaining({ code: "store_in_use" }));
  open.splice(0)[0]?.close();
  const behind = openStoreFile(link, "s");
  open.push(behind);
  expect((await storageInFile(behind).open("c")).mutations).toHaveLength(1);
  expect(behind.path).toBe(realpathSync(path()));
});

test("[D24] a path that cannot be a file is said in a sentence", () => {
  writeFileSync(join(folder, "file"), "");
  expect(() => openStoreFile(join(folder, "file", "agent.db"), "s")).toThrow(StorageFailure);
  expect(() => openStoreFile(folder, "s")).toThrow(StorageFailure);
});

test("[D20] wherever the log ends that a power cut left, what is there is what was written first, whole", async () => {
  const storage = storageInFile(opened());
  await storage.open("c");
  const written = Array.from({ length: 12 }, (_, n) => `w${n}`);
  for (let n = 0; n < written.length; n += 2) await storage.enqueue([added(...written.slice(n, n + 2).map(write))]);
  const [file, log] = [readFileSync(path()), readFileSync(`${path()}-wal`)];
  await storage.close();
  const found = new Set<number>();
  for (let end = 0; end < log.length + 1_021; end += 1_021) {
    writeFileSync(path(), file);
    writeFileSync(`${path()}-wal`, log.subarray(0, end));
    const there = await names();
    for (const one of open.splice(0)) one.close();
    expect(there).toEqual(written.slice(0, there.length));
    expect(there.length % 2).toBe(0);
    found.add(there.length);
  }
  expect([...found]).toEqual([0, 2, 4, 6, 8, 10, 12]);
});

const SECRET = "a value that is going to be erased";

/** All bytes of the store's files. */
const bytes = () =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "latin1"))
    .join("");

const person = (id: string, name: string, syncId = 1) => ({
  record: { model: "person", id },
  value: { data: { id, name }, archivedAt: null, syncId },
});

test("[D46] after an erasure neither the file nor its log has a byte of the value, while the client goes on", async () => {
  const storage = storageInFile(opened());
  await storage.open("c");
  const { generation } = await storage.takeLead();
  const others = Array.from({ length: 40 }, (_, i) => person(`q${i}`, "x".repeat(300)));
  const changes = [...others, person("p1", SECRET)];
  await storage.keepPage({ logId: "log", stamp: 1, first: true, cursor: null, changes }, generation);
  const range = { logId: "log", settled: [] };
  // A longer value has another place in the file.
  const longer = person("p1", `${SECRET} ${"y".repeat(9_000)}`, 2);
  await storage.keepRows({ ...range, from: 1, to: 2, changes: [longer] }, generation);
  expect(bytes()).toContain(SECRET);
  const erased = { record: longer.record, value: undefined, erased: true } as const;
  await storage.keepRows({ ...range, from: 2, to: 3, changes: [erased] }, generation);
  expect(bytes()).not.toContain(SECRET);
  expect((await storage.open("c")).rows.tables.person?.size).toBe(40);
});

test("[D46] a waiting write that loses the values of an erased record leaves no byte of them", async () => {
  const storage = storageInFile(opened());
  await storage.open("c");
  const { generation } = await storage.takeLead();
  const waiting = { ...write("a"), lost: { "person/p1": { name: SECRET } } };
  await storage.enqueue([added(waiting)]);
  const [kept] = (await storage.readQueue(undefined)).mutations;
  expect(bytes()).toContain(SECRET);
  await storage.keep([{ ...waiting, seq: kept?.seq, lost: {} }], generation);
  expect(bytes()).not.toContain(SECRET);
  expect((await storage.readQueue(undefined)).mutations).toMatchObject([{ clientTxId: "a", lost: {} }]);
});
