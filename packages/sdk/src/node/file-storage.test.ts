import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { until } from "../../../../scripts/testing/until.ts";
import { createClient } from "../node.ts";
import { defineSchema } from "../protocol/schema/row-types.ts";
import { fileStorage } from "./file-storage.ts";

const schema = defineSchema({ models: { slide: { fields: { title: { type: "string" } } } } });
let folder = "";
beforeEach(() => {
  folder = temporaryFolder("file", onTestFinished);
});

const path = () => join(folder, "agent.db");

/** A client that reaches no server. */
const open = (more: { store?: string } = {}) =>
  createClient({
    schema,
    url: "http://127.0.0.1:1",
    getToken: () => "token",
    storage: fileStorage(path()),
    ...more,
  });

const titles = (client: ReturnType<typeof open>) => client.models.slide.list().map(({ title }) => title);

test("[D20] [N8] writes without a server are shown and queued by the next client with the same file", async () => {
  const first = open();
  const names = ["a", "b", "c"].map((id) => first.models.slide.create({ title: id }, { id }).clientTxId);
  await first.close();
  const second = open();
  await until(() => expect(second.pending().map((write) => write.clientTxId)).toEqual(names));
  expect(titles(second)).toEqual(["a", "b", "c"]);
  await second.close();
});

test("[D25] drain waits for writes of an earlier process, even if it is called before the file was read", async () => {
  const first = open();
  await first.models.slide.create({ title: "a" }).queued;
  await first.close();
  const second = open();
  await expect(second.drain({ timeoutMs: 50 })).rejects.toMatchObject({
    code: "timed_out",
    message: "drain timed out after 50 ms with up to 1 writes pending.",
  });
  await second.close();
});

test("[D20] [D10] a client without the option stores nothing on disk, and its status says so", async () => {
  const { storage: _, ...memory } = { schema, url: "http://127.0.0.1:1", getToken: () => "token", storage: undefined };
  const client = createClient(memory);
  expect(client.status()).toMatchObject({ storage: "memory", storageTrouble: undefined });
  await client.models.slide.create({ title: "a" }).queued;
  expect(client.status()).toMatchObject({ name: "connecting", storage: "memory", storageTrouble: undefined });
  await client.close();
  const kept = open();
  expect(kept.status().storage).toBe("opening");
  await until(() => expect(kept.status().storage).toBe("disk"));
  await kept.close();
});

test("[Q37] [Q67] a client in Node leads as soon as its store was read, and not while it is paused", async () => {
  const first = open();
  expect(first.status().leads).toBe(false);
  await until(() => expect(first.status().leads).toBe(true));
  first.pause();
  await until(() => expect(first.status().leads).toBe(false));
  first.resume();
  await until(() => expect(first.status().leads).toBe(true));
  await first.close();
});

test("[D21] [D22] an invalid store option is refused when the client is created", async () => {
  const first = open();
  expect(() => open()).toThrow(expect.objectContaining({ name: "SyncError", code: "store_in_use", then: "wait" }));
  await first.close();
  expect(() => open({ store: "another's" })).toThrow(expect.objectContaining({ code: "store_unusable", then: "fix" }));
  const again = open();
  await again.close();
  expect(() => createClient({ schema, url: "nowhere", getToken: () => "", storage: fileStorage(path()) })).toThrow(
    expect.objectContaining({ code: "invalid_options" }),
  );
  await open().close();
});

test("[D24] [D8] if the disk cannot be used, the client continues in memory, and its status says so", async () => {
  writeFileSync(join(folder, "file"), "");
  const client = createClient({
    schema,
    url: "http://127.0.0.1:1",
    getToken: () => "token",
    storage: fileStorage(join(folder, "file", "agent.db")),
  });
  const write = client.models.slide.create({ title: "a" });
  await expect(write.queued).rejects.toMatchObject({
    code: "storage_failed",
    message: expect.stringMatching(/agent\.db/),
  });
  expect(client.status()).toMatchObject({
    name: "storage-failed",
    pending: 1,
    reason: expect.stringMatching(/agent\.db/),
  });
  expect(titles(client)).toEqual(["a"]);
  await client.close();
});

test("[D23] [D8] a damaged store is kept, the client names its path and continues in memory; the next client has a new file", async () => {
  const first = open();
  await first.models.slide.create({ title: "a" }).queued;
  await first.close();
  writeFileSync(path(), Buffer.alloc(8_192));
  const second = open();
  await expect(second.models.slide.create({ title: "b" }).queued).rejects.toMatchObject({ code: "storage_failed" });
  expect(second.status()).toMatchObject({ storage: "memory", storageTrouble: "damaged" });
  expect(second.status().reason).toMatch(/agent\.db\.damaged-/);
  await second.close();
  const third = open();
  await third.models.slide.create({ title: "c" }).queued;
  expect(titles(third)).toEqual(["c"]);
  await third.close();
});
