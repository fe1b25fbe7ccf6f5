import { expect, test } from "vitest";
import { checkOptions } from "../options.ts";
import { MemoryDisk } from "../storage/memory.ts";
import { Profile } from "../testing/profile.ts";
import { passing } from "../testing/start-client.ts";
import { createTestServer } from "../testing/test-server.ts";

const schema = { models: { slide: { fields: { title: { type: "string" } } } } } as const;
const options = { schema, url: "https://sync.example.com", getToken: () => "token" };

test("[D15] each named user has a store of their own", () => {
  const names = [undefined, "ann", "ben", "a:b"].map(
    (user) => checkOptions({ ...options, ...(user && { user }) }).store,
  );
  expect(names).toEqual([
    "holdfast:sync.example.com",
    "holdfast:sync.example.com:ann",
    "holdfast:sync.example.com:ben",
    "holdfast:sync.example.com:a%3Ab",
  ]);
  expect(() => checkOptions({ ...options, user: "" })).toThrow(/user must be a string/);
});

test("[D15] [D51] the writes in a store are sent only with its owner's token", async () => {
  const { client: open, server, settle, clock } = createTestServer(schema);
  const disk = new MemoryDisk();
  const ann = open({ actor: "ann", disk });
  await ann.client.ready();
  await settle();
  ann.connection.up = false;
  ann.connection.cut?.();
  await ann.client.models.slide.create({ title: "Ann's" }, { id: "a" }).queued;
  await ann.client.close();

  const ben = open({ actor: "ben", disk });
  await settle();
  expect(ben.client.status()).toMatchObject({
    name: "needs-auth",
    reason: expect.stringMatching(
      /token belongs to org_test\/test\/user\/ben, but this store belongs to org_test\/test\/user\/ann/,
    ),
  });
  const other = {
    operations: [{ action: "create", model: "slide", id: "x", data: { title: "of Cem" }, onStale: "notify" }],
  };
  server.commit({ ...other, clientTxId: "c", clientId: "c" } as never, "cem");
  await passing({ clock, settle })(40, 5_000);
  expect(server.head).toBe(1);
  expect(ben.connection.sent).toEqual([]);
  // Nor is anything that his token may see read into her store.
  expect(ben.connection.asked.snapshot).toBe(0);
  expect(ben.client.models.slide.get("x")).toBe(undefined);
  expect(ben.client.status().name).toBe("needs-auth");
  expect(disk.rows().position).toBe(0);
  await ben.client.close();

  const back = open({ actor: "ann", disk });
  await settle();
  expect(server.log.map((e) => [e.actor, e.id])).toEqual([
    ["cem", "x"],
    ["ann", "a"],
  ]);
  expect(back.client.status()).toMatchObject({ name: "online", pending: 0 });
});

test("[D15] [D51] a token that changes hands under a running client stops it too", async () => {
  const { client: open, server, settle, clock } = createTestServer(schema);
  let token = "first";
  const { client, connection } = open({ actor: "ann", getToken: () => token });
  await client.ready();
  await settle();
  // The page signed another user in, and the first token expires: the client reconnects as another participant.
  token = "second";
  connection.badTokens.add("first");
  connection.actor = "ben";
  connection.cut?.(4401);
  client.models.slide.create({ title: "Ann's" }, { id: "a" });
  for (let i = 0; i < 3; i++) {
    await settle();
    clock.advance(5_000);
  }
  await settle();
  expect(client.status().name).toBe("needs-auth");
  expect(server.head).toBe(0);
  connection.actor = "ann";
  token = "third";
  await passing({ clock, settle })(20, 5_000);
  expect(client.status().name).toBe("online");
  expect(server.log.map((e) => e.actor)).toEqual(["ann"]);
});

test.each<[string, { tenant?: string; actor?: string }]>([
  ["in another organization", { tenant: "org_other/test" }],
  ["in the other environment", { tenant: "org_test/live" }],
  ["another participant", { actor: "ben" }],
])("[D15] [D53] [D51] a store is nothing to its user %s: with or without sockets", async (_, elsewhere) => {
  for (const sockets of ["stream", "no stream", "no socket to be had"]) {
    const own = createTestServer(schema);
    const disk = new MemoryDisk();
    const ann = own.client({ disk });
    await ann.client.ready();
    await ann.client.models.slide.create({ title: "first" }, { id: "kept" }).receipt;
    await own.settle();
    ann.connection.up = false;
    ann.connection.cut?.();
    await ann.client.models.slide.create({ title: "secret" }, { id: "waiting" }).queued;
    await ann.client.close();

    // Another tenant has another log, whose head may be before or after the position here.
    const other = createTestServer(schema);
    other.server.logId = "log_other";
    const { client, connection } = other.client({ disk, stream: sockets === "stream" });
    Object.assign(connection, elsewhere, { socketUp: sockets === "stream" });
    for (let i = 0; i < 12; i++) {
      await other.settle();
      other.clock.advance(5_000);
    }
    expect(client.status(), sockets).toMatchObject({
      name: "needs-auth",
      pending: 0,
      reason: expect.stringMatching(/this store belongs to org_test\/test\/user\/ann/),
    });
    expect([connection.sent, other.server.head], sockets).toEqual([[], 0]);
    expect(client.models.slide.list()).toEqual([]);
    expect(client.models.slide.get("kept")).toBe(undefined);
    expect(client.pending()).toEqual([]);
    expect(() => client.models.slide.create({ title: "of another" })).toThrow(
      expect.objectContaining({ code: "not_owner" }),
    );
    expect(disk.rows().logId).toBe("log_1");
    expect(disk.queue().length).toBe(1);
    await client.close();
    const back = own.client({ disk });
    await own.settle();
    expect(own.server.log.map(({ id }) => id)).toEqual(["kept", "waiting"]);
    expect(back.client.models.slide.list().map(({ id }) => id)).toEqual(["kept", "waiting"]);
    await back.client.close();
  }
});

/** Ann's store with one pending write; then tabs of her profile, the first with Ben's token. */
async function tabsOfAnn() {
  const own = createTestServer(schema);
  const disk = new MemoryDisk();
  const before = own.client({ actor: "ann", disk });
  await before.client.ready();
  await before.client.models.slide.create({ title: "first" }, { id: "kept" }).receipt;
  await own.settle();
  before.connection.up = false;
  before.connection.cut?.();
  await before.client.models.slide.create({ title: "waits" }, { id: "waiting" }).queued;
  await before.client.close();
  const profile = new Profile();
  const open = async (actor: string, getToken?: () => string) => {
    const tab = profile.tab();
    const made = own.client({ actor, disk, platform: { tabs: () => tab.tabs }, ...(getToken && { getToken }) });
    await own.settle();
    return made;
  };
  const wait = (seconds: number) => passing(own)(seconds / 5, 5_000);
  const statuses = (...tabs: Awaited<ReturnType<typeof open>>[]) =>
    tabs.map(({ client }) => [client.status().name, client.status().leads]);
  return { ...own, open, wait, statuses };
}

test("[D36] a leader with another owner's token leaves the lead to the other tabs", async () => {
  const { open, wait, statuses, server } = await tabsOfAnn();
  const ben = await open("ben");
  expect(statuses(ben)).toEqual([["needs-auth", true]]);
  const ann = await open("ann");
  await wait(5);
  expect(statuses(ben, ann)).toEqual([
    ["needs-auth", false],
    ["online", true],
  ]);
  expect(server.log.map((e) => [e.actor, e.id])).toEqual([
    ["ann", "kept"],
    ["ann", "waiting"],
  ]);
  expect(ann.client.models.slide.list().map(({ id }) => id)).toEqual(["kept", "waiting"]);
  expect(ben.client.models.slide.list()).toEqual([]);
  expect(() => ben.client.models.slide.create({ title: "Ben's" })).toThrow(
    expect.objectContaining({ code: "not_owner" }),
  );
  expect(ben.connection.sent).toEqual([]);
});

test("[D36] if all tabs have another owner's token, none leads until one gets a token of the owner", async () => {
  const { open, wait, statuses, server } = await tabsOfAnn();
  let token = "of ben";
  const first = await open("ben", () => token);
  const second = await open("ben");
  await wait(20);
  expect(statuses(first, second)).toEqual([
    ["needs-auth", false],
    ["needs-auth", false],
  ]);
  expect(server.head).toBe(1);
  token = "of ann";
  first.connection.actor = "ann";
  await wait(60);
  expect(statuses(first)).toEqual([["online", true]]);
  expect(server.log.map(({ id }) => id)).toEqual(["kept", "waiting"]);
});

test("[D15] [D52] without a socket, too, nothing goes out under a new token before the server has named its owner", async () => {
  const { client: open, server, settle, clock } = createTestServer(schema);
  let token = "first";
  const { client, connection } = open({ actor: "ann", getToken: () => token, stream: false });
  await client.models.slide.create({ title: "before" }, { id: "a" }).receipt;
  await settle();
  token = "second";
  connection.badTokens.add("first");
  connection.actor = "ben";
  client.models.slide.create({ title: "after" }, { id: "b" });
  for (let i = 0; i < 4; i++) {
    await settle();
    clock.advance(5_000);
  }
  expect(connection.sent.length).toBe(1);
  expect(server.head).toBe(1);
  expect(client.status().name).toBe("needs-auth");
  connection.actor = "ann";
  token = "third";
  await passing({ clock, settle })(20, 5_000);
  expect(server.log.map(({ actor, id }) => [actor, id])).toEqual([
    ["ann", "a"],
    ["ann", "b"],
  ]);
});

test("[D16] signOut keeps the pending writes for the person's return, or discards everything, in every tab", async () => {
  const { client: open, server, settle } = createTestServer(schema);
  const disk = new MemoryDisk();
  const start = async () => {
    const profile = new Profile();
    const tabs = [profile.tab(), profile.tab()].map(({ tabs: own }) => open({ disk, platform: { tabs: () => own } }));
    await settle();
    const [first, second] = tabs as [ReturnType<typeof open>, ReturnType<typeof open>];
    return { first, second };
  };
  const one = await start();
  one.first.connection.up = false;
  one.first.connection.cut?.();
  await one.first.client.models.slide.create({ title: "kept" }, { id: "a" }).queued;
  await expect(one.first.client.signOut({} as never)).rejects.toMatchObject({ code: "invalid_options" });
  one.second.connection.up = false;
  await one.first.client.signOut({ pending: "keep" });
  await settle();
  expect(disk.queue()).toHaveLength(1);
  expect(one.second.client.pending()).toHaveLength(1);
  await one.second.client.close();

  const two = await start();
  expect(server.head).toBe(1);
  two.first.connection.up = false;
  two.first.connection.cut?.();
  const lost = two.second.client.models.slide.create({ title: "gone" }, { id: "b" });
  await lost.queued;
  await two.first.client.signOut({ pending: "discard" });
  await settle();
  expect(disk.queue()).toEqual([]);
  expect(disk.rows().position).toBe(undefined);
  expect(server.head).toBe(1);
  await expect(lost.receipt).rejects.toMatchObject({ code: "client_closed" });
  expect(() => two.second.client.models.slide.create({ title: "late" })).toThrow(/closed/);
});
