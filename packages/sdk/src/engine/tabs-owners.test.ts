import { expect, test } from "vitest";
import { BrowserProfile } from "../testing/browser-profile.ts";
import { createTestServer, type TestClientOptions } from "../testing/test-server.ts";

const schema = { models: { slide: { fields: { title: { type: "string" } } } } } as const;
const PLAIN = "holdfast:holdfast.test";

/** Two organizations with a server each, and one browser profile in which people of both open tabs. */
function twoOrganizations() {
  const profile = new BrowserProfile();
  const [a, b] = [createTestServer(schema), createTestServer(schema)];
  b.server.logId = "log_b";
  const opener =
    (own: typeof a, tenant: string) =>
    async (options: TestClientOptions & { readonly before?: (tab: ReturnType<typeof own.client>) => void } = {}) => {
      const { before, ...rest } = options;
      const made = own.client({ ...rest, platform: { ...profile.platform, ...rest.platform } });
      made.connection.tenant = tenant;
      before?.(made);
      await settle();
      return { ...made, slides: made.client.models.slide };
    };
  const settle = async () => {
    for (let i = 0; i < 3; i++) for (const own of [a, b]) await own.settle();
  };
  const wait = async (seconds: number) => {
    for (let i = 0; i < seconds; i += 5) {
      for (const own of [a, b]) own.clock.advance(5_000);
      await settle();
    }
  };
  return { a, b, profile, settle, wait, openA: opener(a, "org_a/test"), openB: opener(b, "org_b/test") };
}

const titles = ({ slides }: { slides: { list(): readonly { title?: string }[] } }) => slides.list().map((s) => s.title);

test("[D40] two tabs of two organizations work side by side: neither sees or sends what the other has", async () => {
  const { a, b, openA, openB, profile, settle } = twoOrganizations();
  const first = await openA();
  await first.slides.create({ title: "of A" }, { id: "a" }).receipt;
  const second = await openB();
  expect(second.client.status()).toMatchObject({ name: "online", leads: true });
  expect(titles(second)).toEqual([]);
  await expect(second.slides.create({ title: "of B" }, { id: "b" }).receipt).resolves.toMatchObject({
    status: "confirmed",
  });
  await settle();
  expect(titles(first)).toEqual(["of A"]);
  expect(titles(second)).toEqual(["of B"]);
  expect(a.server.log.map(({ id }) => id)).toEqual(["a"]);
  expect(b.server.log.map(({ id }) => id)).toEqual(["b"]);
  expect(first.client.status()).toMatchObject({ name: "online", leads: true });
  expect(profile.names).toEqual([PLAIN, `${PLAIN}@org_b/user/ann`]);
});

test.each([
  ["another person", { actor: "ben" }, `${PLAIN}@org_a/user/ben`],
  ["the same person in the other environment", { tenant: "org_a/live" }, `${PLAIN}@org_a/user/ann`],
])("[D40] [D54] a tab of %s has a store of its own beside the first owner's", async (_, elsewhere, name) => {
  const { a, openA, profile, settle } = twoOrganizations();
  const first = await openA();
  await first.slides.create({ title: "first" }, { id: "a" }).receipt;
  const second = await openA({ before: ({ connection }) => void Object.assign(connection, elsewhere) });
  expect(second.client.status()).toMatchObject({ name: "online", leads: true });
  await second.slides.create({ title: "second" }, { id: "b" }).queued;
  expect(profile.store(name).disk.read("").owner).toBe(
    "tenant" in elsewhere ? "org_a/live/user/ann" : "org_a/test/user/ben",
  );
  expect(profile.store(PLAIN).disk.queue()).toEqual([]);
  await settle();
  expect(a.server.log.map((e) => e.id)).toEqual(["a", "b"]);
});

test("[D40] [D54] three owners of one participant's name have three stores", async () => {
  const { openA, profile } = twoOrganizations();
  const tenants = ["org_a/test", "org_a/live", "org_a/other", "org_b/test"];
  for (const tenant of tenants) {
    const tab = await openA({ before: ({ connection }) => void Object.assign(connection, { tenant }) });
    expect(tab.client.status()).toMatchObject({ name: "online", leads: true });
  }
  expect(profile.names.map((name) => profile.store(name).disk.read("").owner)).toEqual(
    expect.arrayContaining(tenants.map((tenant) => `${tenant}/user/ann`)),
  );
});

test("[D40] two tabs that start at the same moment in an empty profile get a store each", async () => {
  const { openA, openB, settle } = twoOrganizations();
  const both = await Promise.all([openA(), openB()]);
  await settle();
  expect(both.map(({ client }) => client.status().leads)).toEqual([true, true]);
  expect(both.map(({ client }) => client.status().name)).toEqual(["online", "online"]);
});

test("[D40] tabs of the same owner still share one store and one connection, also beside another owner's", async () => {
  const { openA, openB, settle, b } = twoOrganizations();
  await openA();
  const first = await openB();
  const second = await openB();
  expect(second.client.status()).toMatchObject({ name: "online", leads: false });
  expect(second.connection.asked.socket).toBe(0);
  await second.slides.create({ title: "of B" }, { id: "b" }).receipt;
  await settle();
  expect(titles(first)).toEqual(["of B"]);
  expect(second.connection.sent).toEqual([]);
  expect(b.server.log.length).toBe(1);
});

test("[D40] a tab shows no row of another owner while the server has not named its own", async () => {
  const { openA, openB, settle, profile, b } = twoOrganizations();
  const first = await openA();
  await first.slides.create({ title: "of A" }, { id: "a" }).receipt;
  let answer = (_: string) => {};
  const token = new Promise<string>((resolve) => {
    answer = resolve;
  });
  const second = await openB({ getToken: () => token });
  expect(second.client.status()).toMatchObject({ name: "starting", rows: "loading" });
  const early = second.slides.create({ title: "early" }, { id: "early" });
  await settle();
  expect(titles(second)).toEqual(["early"]);
  expect(profile.store(PLAIN).disk.queue()).toEqual([]);
  answer("token");
  await expect(early.receipt).resolves.toMatchObject({ status: "confirmed" });
  expect(b.server.log.map(({ id }) => id)).toEqual(["early"]);
  expect(titles(first)).toEqual(["of A"]);
});

test("[D40] each owner finds the own rows and the own queue after a reload", async () => {
  const { openA, openB, a, b } = twoOrganizations();
  for (const [open, id] of [
    [openA, "a"],
    [openB, "b"],
  ] as const) {
    const tab = await open();
    await tab.slides.create({ title: `of ${id}` }, { id }).receipt;
    tab.offline();
    await tab.slides.create({ title: `more of ${id}` }, { id: `${id}2` }).queued;
    await tab.client.close();
  }
  const [backA, backB] = [await openA(), await openB()];
  expect(titles(backA)).toEqual(["of a", "more of a"]);
  expect(titles(backB)).toEqual(["of b", "more of b"]);
  expect(a.server.log.map(({ id }) => id)).toEqual(["a", "a2"]);
  expect(b.server.log.map(({ id }) => id)).toEqual(["b", "b2"]);
});

test("[D40] signing out and in as another person in one of two tabs moves that tab to a store of its own", async () => {
  const { openA, openB, a, b, settle } = twoOrganizations();
  const first = await openA();
  const second = await openA();
  await second.client.signOut({ pending: "keep" });
  const other = await openB();
  await first.slides.create({ title: "of A" }, { id: "a" }).receipt;
  await other.slides.create({ title: "of B" }, { id: "b" }).receipt;
  await settle();
  expect([titles(first), titles(other)]).toEqual([["of A"], ["of B"]]);
  await other.client.signOut({ pending: "discard" });
  await settle();
  expect(first.client.status().name).toBe("online");
  expect(titles(first)).toEqual(["of A"]);
  expect([a.server.log.length, b.server.log.length]).toEqual([1, 1]);
});

test("[D41] a page that opens without a network shows the rows of a store with one owner", async () => {
  const { openA, a, settle } = twoOrganizations();
  const first = await openA();
  await first.slides.create({ title: "of A" }, { id: "a" }).receipt;
  await first.client.close();
  const again = await openA({ before: ({ connection }) => void Object.assign(connection, { up: false }) });
  expect(titles(again)).toEqual(["of A"]);
  await again.slides.create({ title: "offline" }, { id: "b" }).queued;
  again.online();
  await settle();
  expect(a.server.log.map(({ id }) => id)).toEqual(["a", "b"]);
});

test("[D41] a server that does not answer within 3 s counts as one that cannot be asked", async () => {
  const { openA, wait } = twoOrganizations();
  const first = await openA();
  await first.slides.create({ title: "of A" }, { id: "a" }).receipt;
  await first.client.close();
  const again = await openA({ getToken: () => new Promise(() => {}) });
  expect(titles(again)).toEqual([]);
  await wait(5);
  expect(titles(again)).toEqual(["of A"]);
});

test("[D41] [D56] a store that another owner has asked for is nothing to a tab that cannot ask, until it can", async () => {
  const { openA, openB, b, settle } = twoOrganizations();
  for (const open of [openA, openB]) {
    const tab = await open();
    await tab.slides.create({ title: "known" }, { id: "known" }).receipt;
    await tab.client.close();
  }
  const offline = await openB({ before: ({ connection }) => void Object.assign(connection, { up: false }) });
  expect(offline.client.status()).toMatchObject({
    name: "connecting",
    reason: expect.stringContaining("Several owners have used this store"),
  });
  expect(titles(offline)).toEqual([]);
  const write = offline.slides.create({ title: "typed meanwhile" }, { id: "later" });
  await settle();
  offline.online();
  await expect(write.receipt).resolves.toMatchObject({ status: "confirmed" });
  expect(titles(offline)).toEqual(["known", "typed meanwhile"]);
  expect(b.server.log.map(({ id }) => id)).toEqual(["known", "later"]);
});

test("[D41] [D56] where several owners have used the store, a tab without a token needs one", async () => {
  const { openA, openB, wait } = twoOrganizations();
  for (const open of [openA, openB]) await (await open()).client.close();
  let isSignedIn = false;
  const tab = await openB({
    getToken: () => {
      if (!isSignedIn) throw new Error("signed out");
      return "token";
    },
  });
  expect(tab.client.status()).toMatchObject({ name: "needs-auth", rows: "loading" });
  isSignedIn = true;
  await wait(10);
  expect(tab.client.status()).toMatchObject({ name: "online" });
});

test("[D41] [D55] a tab that cannot ask waits for an answer beside a leader that is online", async () => {
  const { openA, settle, a } = twoOrganizations();
  const first = await openA();
  await first.slides.create({ title: "of A" }, { id: "a" }).receipt;
  const second = await openA({ before: ({ connection }) => void Object.assign(connection, { up: false }) });
  expect(second.client.status()).toMatchObject({ name: "connecting", rows: "loading" });
  expect(titles(second)).toEqual([]);
  expect(() => second.slides.create({ title: "whose?" })).toThrow(expect.objectContaining({ code: "not_owner" }));
  second.online();
  await settle();
  expect(second.client.status()).toMatchObject({ name: "online", leads: false });
  expect(titles(second)).toEqual(["of A"]);
  await second.slides.create({ title: "of A" }, { id: "b" }).receipt;
  expect(a.server.log.length).toBe(2);
});

test("[D41] a tab that took the store for its own shows nothing of it as soon as the server names another owner", async () => {
  const { openA, openB, a, b, settle } = twoOrganizations();
  const first = await openA();
  await first.slides.create({ title: "of A" }, { id: "a" }).receipt;
  const second = await openB({ before: ({ connection }) => void Object.assign(connection, { up: false }) });
  expect(second.client.status().leads).toBe(false);
  second.online();
  await settle();
  expect(second.client.status()).toMatchObject({ name: "needs-auth" });
  expect(titles(second)).toEqual([]);
  expect(() => second.slides.create({ title: "of B" })).toThrow(expect.objectContaining({ code: "not_owner" }));
  expect([a.server.log.length, b.server.log.length]).toEqual([1, 0]);
  expect(titles(first)).toEqual(["of A"]);
  await second.client.close();
  const again = await openB();
  expect(again.client.status()).toMatchObject({ name: "online", leads: true });
});

test("[D45] [D60] a follower asks again for the owner of its token, and stops when the token is another owner's", async () => {
  const { openA, wait, a } = twoOrganizations();
  const first = await openA();
  let token = "token";
  const second = await openA({ getToken: () => token });
  expect(second.client.status()).toMatchObject({ name: "online", leads: false });
  const asked = second.connection.identities;
  token = "of ben";
  second.connection.actor = "ben";
  await wait(590);
  expect(second.connection.identities).toBe(asked);
  await wait(20);
  expect(second.client.status().name).toBe("needs-auth");
  expect(() => second.slides.create({ title: "of ben" })).toThrow(expect.objectContaining({ code: "not_owner" }));
  expect(first.client.status()).toMatchObject({ name: "online", leads: true });
  expect(a.server.head).toBe(0);
});
