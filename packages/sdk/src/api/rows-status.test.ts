import { expect, test } from "vitest";
import { createTestServer, MemoryDisk } from "../testing/index.ts";

const schema = { models: { task: { fields: { title: { type: "string" } } } } } as const;

function setup() {
  const own = createTestServer(schema);
  const disk = new MemoryDisk();
  const open = () => own.client({ disk, actor: "ann" });
  const other = own.client({ actor: "ben" }).client.models.task;
  return { ...own, disk, open, other };
}

test("[R27] rows are loading, then complete; partial while there is no connection, and complete again", async () => {
  const { open, other, settle } = setup();
  await other.create({ title: "there" }, { id: "1" }).receipt;
  const { client, offline, online } = open();
  expect(client.status().rows).toBe("loading");
  await client.ready({ rows: "complete" });
  expect([client.status().rows, client.models.task.list().length]).toEqual(["complete", 1]);
  offline();
  await settle();
  expect(client.status().rows).toBe("partial");
  await other.create({ title: "meanwhile" }, { id: "2" }).receipt;
  const seen: [string, number][] = [];
  client.subscribe(() => seen.push([client.status().rows, client.models.task.list().length]));
  online();
  await client.ready({ rows: "complete" });
  expect(client.models.task.list()).toHaveLength(2);
  // It never said that it knows all while it did not.
  expect(seen.filter(([rows]) => rows === "complete").every(([, count]) => count === 2)).toBe(true);
  await client.close();
});

test("[G25] calls of ready() that wait for the same rows get one promise, and a later call waits anew", async () => {
  const { open, settle } = setup();
  const { client, offline, online } = open();
  offline();
  await settle();
  const [any, complete] = [client.ready(), client.ready({ rows: "complete" })];
  for (let n = 0; n < 100; n += 1) expect(client.ready()).toBe(any);
  expect(client.ready({ rows: "any" })).toBe(any);
  expect(client.ready({ rows: "complete" })).toBe(complete);
  online();
  await Promise.all([any, complete]);
  offline();
  await settle();
  const again = client.ready({ rows: "complete" });
  expect(again).not.toBe(complete);
  await client.close();
  await expect(again).rejects.toMatchObject({ code: "client_closed" });
});

/** A client without a network, whose disk has one record. */
async function reopened() {
  const { open, other, settle } = setup();
  await other.create({ title: "there" }, { id: "1" }).receipt;
  const first = open();
  await first.client.ready({ rows: "complete" });
  await settle();
  await first.client.close();
  const { client, connection, online, offline } = open();
  connection.up = false;
  await client.ready();
  return { client, online, offline, other, settle };
}

test("[R27] rows from the disk are partial until the server has been asked", async () => {
  const { client, online, other } = await reopened();
  await other.create({ title: "new" }, { id: "2" }).receipt;
  expect([client.status().rows, client.models.task.list().length]).toEqual(["partial", 1]);
  online();
  await client.ready({ rows: "complete" });
  expect(client.models.task.list()).toHaveLength(2);
  await client.close();
});

test("[R73] [R81] while they are not complete, the status says when the rows were so last, also after a reload", async () => {
  const { open, other, settle, clock } = setup();
  await other.create({ title: "there" }, { id: "1" }).receipt;
  const first = open();
  const at = (now: ReturnType<typeof open>) => now.client.status().rowsAt;
  expect(at(first)).toBeUndefined();
  await first.client.ready({ rows: "complete" });
  const loadedAt = clock.now();
  expect(at(first)).toBeUndefined();
  await settle();
  clock.advance(60_000);
  await other.create({ title: "later" }, { id: "later" }).receipt;
  await settle();
  const changedAt = clock.now();
  expect(changedAt).toBeGreaterThanOrEqual(loadedAt + 60_000);
  // The device sleeps, and finds its connection gone when it wakes.
  clock.advance(8 * 3_600_000);
  first.offline();
  await settle();
  const lostAt = at(first) ?? 0;
  expect(lostAt).toBeGreaterThanOrEqual(loadedAt + 60_000);
  expect(lostAt).toBeLessThanOrEqual(changedAt);
  clock.advance(60_000);
  await settle();
  expect(at(first)).toBe(lostAt);
  await first.client.close();
  const second = open();
  second.connection.up = false;
  await second.client.ready();
  expect(at(second)).toBe(lostAt);
  second.online();
  await second.client.ready({ rows: "complete" });
  expect(at(second)).toBeUndefined();
  await other.create({ title: "new" }, { id: "2" }).receipt;
  await settle();
  const heardAt = clock.now();
  second.offline();
  await settle();
  expect(at(second)).toBeGreaterThanOrEqual(heardAt);
  await second.client.close();
});

test("[R73] when the rows were complete is stored with them also after all of them were read again", async () => {
  const { open, other, server, settle, clock, disk } = setup();
  await other.create({ title: "there" }, { id: "1" }).receipt;
  const first = open();
  await first.client.ready({ rows: "complete" });
  await settle();
  first.offline();
  await settle();
  const lostAt = first.client.status().rowsAt;
  server.rowsVersion += 1;
  clock.advance(60_000);
  first.online();
  await first.client.ready({ rows: "complete" });
  await settle();
  expect(first.connection.asked.snapshot).toBe(2);
  expect(disk.rows().at).toBeGreaterThanOrEqual((lostAt ?? 0) + 60_000);
  await first.client.close();
});

test("[R73] rows that were read again, and are not known to be complete yet, were so when the former ones were", async () => {
  const { open, other, server, settle, clock } = setup();
  await other.create({ title: "there" }, { id: "1" }).receipt;
  const first = open();
  await first.client.ready({ rows: "complete" });
  first.offline();
  await settle();
  const lostAt = first.client.status().rowsAt;
  server.rowsVersion += 1;
  clock.advance(60_000);
  const seen = new Set<number | undefined>();
  first.client.subscribe(() => {
    const { rows, rowsAt } = first.client.status();
    if (rows !== "complete") seen.add(rowsAt);
  });
  first.online();
  await first.client.ready({ rows: "complete" });
  expect(first.connection.asked.snapshot).toBe(2);
  expect([...seen]).toEqual([lostAt]);
  await first.client.close();
});

test("[R28] a query with staleOk false has no records until they are complete, and keeps them then", async () => {
  const { client, online, offline, settle } = await reopened();
  const fresh = () => client.models.task.list({ staleOk: false });
  expect([fresh(), client.models.task.list().length]).toEqual([[], 1]);
  expect(fresh()).toBe(fresh());
  online();
  await client.ready({ rows: "complete" });
  expect(fresh()).toHaveLength(1);
  offline();
  await settle();
  expect([client.status().rows, fresh().length]).toEqual(["partial", 1]);
  expect(() => client.models.task.list({ staleOk: "no" as never })).toThrow(
    expect.objectContaining({ param: "staleOk" }),
  );
  await client.close();
});
