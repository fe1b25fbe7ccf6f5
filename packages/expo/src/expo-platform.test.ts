import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keyValueStorage } from "@holdfast/sdk/platform";
import { createTestServer, storageContract } from "@holdfast/sdk/testing";
import { afterAll, expect, test } from "vitest";
import { until } from "../../../scripts/testing/until.ts";
import { expoPlatform, fileOf } from "./expo-platform.ts";
import { openSqliteStore } from "./sqlite-store.ts";
import { libsqlAsExpo } from "./testing/libsql-as-expo.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-expo-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const SQLite = libsqlAsExpo(folder);
let files = 0;

/** The modules, with what they have been asked and what the test says. */
function modules() {
  const network: ((state: { isConnected?: boolean }) => void)[] = [];
  const app: ((state: string) => void)[] = [];
  const subscribe = <T>(list: T[], one: T) => {
    list.push(one);
    return { remove: () => void list.splice(list.indexOf(one), 1) };
  };
  return {
    ...{ network, app, SQLite },
    Network: { addNetworkStateListener: (one: (typeof network)[number]) => subscribe(network, one) },
    AppState: { addEventListener: (_: "change", one: (typeof app)[number]) => subscribe(app, one) },
    Crypto: { getRandomBytes: (count: number) => crypto.getRandomValues(new Uint8Array(count)) },
  };
}

test.each(storageContract)("[XP1] expo-sqlite: $rule", async ({ check }) => {
  const store = await openSqliteStore(SQLite, `contract-${++files}.db`);
  const storage = keyValueStorage({ ...store, close: () => {} });
  await expect(check(async () => storage)).resolves.toBeUndefined();
  await store.close();
});

test("[XP2] a write of several keys that fails in its middle changes nothing", async () => {
  const store = await openSqliteStore(SQLite, "atomic.db");
  await store.write([{ type: "put", key: "a", value: "1" }]);
  const broken = { type: "put", key: "c", value: null as unknown as string } as const;
  await expect(
    (async () => await store.write([{ type: "put", key: "b", value: "2" }, { type: "delete", key: "a" }, broken]))(),
  ).rejects.toThrow();
  expect(await store.entries("", "z")).toEqual([["a", "1"]]);
  await store.write([{ type: "put", key: "b", value: "2" }]);
  expect(await store.get("b")).toBe("2");
  await store.close();
});

test("[XP3] writes that wait offline are there after the app was ended, and are sent when the network is back", async () => {
  const server = createTestServer({ models: { task: { fields: { title: { type: "string" } } } } });
  const { storage } = expoPlatform(modules());
  const { client: before, offline } = server.client({ platform: { storage } });
  await before.ready();
  offline();
  const { id } = before.models.task.create({ title: "Written on a phone" });
  await before.models.task.update(id, { title: "Twice" }).queued;
  await before.close();

  const { client: after } = server.client({ platform: { storage } });
  await after.ready();
  await until(() => after.status().pending === 0);
  expect(after.models.task.get(id)?.title).toBe("Twice");
  await after.close();
});

test("[XP4] the network and the state of the app are heard until the client is closed", async () => {
  const given = modules();
  const signals = expoPlatform(given).signals?.();
  const heard: unknown[] = [];
  signals?.start({
    network: (up) => void heard.push(up),
    woke: () => void heard.push("woke"),
    hidden: () => void heard.push("hidden"),
  });
  for (const isConnected of [false, true]) given.network[0]?.({ isConnected });
  given.network[0]?.({});
  for (const state of ["inactive", "background", "active"]) given.app[0]?.(state);
  expect(heard).toEqual([false, true, "hidden", "woke"]);
  signals?.close();
  expect([given.network, given.app]).toEqual([[], []]);
});

test("[XP5] ids come from the given random numbers, and are ids of records", () => {
  const { random } = expoPlatform(modules());
  const ids = new Set(Array.from({ length: 1_000 }, () => random?.id()));
  expect(ids.size).toBe(1_000);
  for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{21}$/);
});

test("[XP6] each store has a file of its own, and a name that is too long for one is refused", () => {
  expect(fileOf("https://a.example/ann")).not.toBe(fileOf("https://a.example/ben"));
  expect(fileOf("a/b")).toMatch(/^holdfast-[\w.!~*'()-]+\.db$/);
  expect(() => fileOf("é".repeat(100))).toThrow("Choose a shorter `store`");
  expect(readdirSync(folder).some((name) => name.startsWith("holdfast-"))).toBe(true);
});
