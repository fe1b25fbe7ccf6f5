import { expect, test } from "vitest";
import { BrowserProfile } from "../testing/browser-profile.ts";
import { createTestServer, type TestClientOptions } from "../testing/test-server.ts";

const schema = { models: { slide: { fields: { title: { type: "string" } } } } } as const;
const PLAIN = "holdfast:holdfast.test";
const ann = { organization: "org_test", participant: "ann" };
const ben = { organization: "org_test", participant: "user:ben" };

/** A browser profile in which people of one organization open pages. */
function profileOfMany() {
  const own = createTestServer(schema);
  const profile = new BrowserProfile();
  const open = async (actor: string, options: TestClientOptions & { readonly isUp?: boolean } = {}) => {
    const { isUp = true, ...rest } = options;
    const made = own.client({ actor, ...rest, platform: profile.platform });
    made.connection.up = isUp;
    await own.settle();
    return { ...made, slides: made.client.models.slide };
  };
  return { ...own, profile, open };
}

/** A page without a network, in a store that belongs to Ann; then it turns out that Ben had opened it. */
async function writeOfUnknown() {
  const own = profileOfMany();
  await (await own.open("ann")).client.close();
  const unknown = await own.open("ben", { isUp: false });
  const write = unknown.slides.create({ title: "whose?" }, { id: "x" });
  await write.queued;
  unknown.online();
  await own.settle();
  expect(unknown.client.status().name).toBe("needs-auth");
  await unknown.client.close();
  return own;
}

test("[D43] a write that was made before the first sign-in is sent as the first owner's", async () => {
  const { open, server } = profileOfMany();
  const before = await open("ann", { isUp: false });
  await before.slides.create({ title: "early" }, { id: "a" }).queued;
  await before.client.close();
  const tab = await open("ann");
  expect(server.log.map(({ actor, id }) => [actor, id])).toEqual([["ann", "a"]]);
  expect(tab.client.attention()).toEqual([]);
});

test("[D43] [D57] a write of an unknown owner waits for a decision once another owner has asked for the store", async () => {
  const { open, server, settle } = await writeOfUnknown();
  const tab = await open("ann");
  expect(server.head).toBe(0);
  expect(tab.client.attention()).toMatchObject([{ code: "unowned", operations: [{ id: "x" }] }]);
  await expect(tab.client.attention()[0]?.retry().receipt).resolves.toMatchObject({ status: "confirmed" });
  await settle();
  expect(server.log.map(({ actor, id }) => [actor, id])).toEqual([["ann", "x"]]);
  expect(tab.client.attention()).toEqual([]);
});

test("[D43] [D57] a write of an unknown owner that is discarded is sent by no tab", async () => {
  const { open, server, settle, profile } = await writeOfUnknown();
  const tab = await open("ann");
  tab.client.attention()[0]?.discard();
  await settle();
  expect(tab.slides.list()).toEqual([]);
  await tab.client.close();
  await open("ann");
  expect(server.head).toBe(0);
  expect(profile.store(PLAIN).disk.queue()).toEqual([]);
});

test("[D42] a client that names its owner shows its rows at once, also without a network beside another owner's", async () => {
  const { open, server, settle } = profileOfMany();
  for (const actor of ["ann", "ben"]) {
    const tab = await open(actor);
    await tab.slides.create({ title: `of ${actor}` }, { id: actor }).receipt;
    await tab.client.close();
  }
  const tabs = [await open("ann", { owner: ann, isUp: false }), await open("ben", { owner: ben, isUp: false })];
  // Both may read all slides. Ann's page was closed before Ben wrote his.
  const shown = tabs.map(({ slides }) => slides.list().map(({ title }) => title));
  expect(shown).toEqual([["of ann"], ["of ann", "of ben"]]);
  expect(tabs.map(({ client }) => client.status().leads)).toEqual([true, true]);
  for (const [i, { slides }] of tabs.entries()) await slides.create({ title: "offline" }, { id: `new-${i}` }).queued;
  for (const tab of tabs) tab.online();
  await settle();
  expect(server.log.slice(2).map(({ actor, id }) => [actor, id])).toEqual([
    ["ann", "new-0"],
    ["ben", "new-1"],
  ]);
});

test("[D42] what was written before the first answer is the named owner's, and is found by a client that does not name it", async () => {
  const { open, server, profile, settle } = profileOfMany();
  const first = await open("ben", { owner: ben, isUp: false });
  await first.slides.create({ title: "of ben" }, { id: "b" }).queued;
  await first.client.close();
  const other = await open("ann");
  expect(other.client.status()).toMatchObject({ name: "online", pending: 0, attention: 0 });
  expect(server.head).toBe(0);
  await open("ben");
  await settle();
  expect(server.log.map(({ actor, id }) => [actor, id])).toEqual([["ben", "b"]]);
  expect(profile.store(PLAIN).disk.read("").owner).toBe("org_test/test/user/ben");
});

test("[D42] if the server names another owner than the app, the status is needs-auth and nothing is sent", async () => {
  const { open, server, profile } = profileOfMany();
  const wrong = await open("ben", { owner: ann });
  expect(wrong.client.status()).toMatchObject({
    name: "needs-auth",
    reason: expect.stringMatching(/org_test\/test\/user\/ben.*org_test\/\*\/user\/ann/),
  });
  expect(() => wrong.slides.create({ title: "?" })).toThrow(expect.objectContaining({ code: "not_owner" }));
  expect(server.head).toBe(0);
  await wrong.client.close();
  const right = await open("ann", { owner: ann });
  expect(right.client.status().name).toBe("online");
  expect(profile.store(PLAIN).disk.read("").owner).toBe("org_test/test/user/ann");
});

test("[D42] a follower whose token is not the named owner's stops, too", async () => {
  const { open } = profileOfMany();
  const first = await open("ann", { owner: ann });
  await first.slides.create({ title: "of ann" }, { id: "a" }).receipt;
  const wrong = await open("ben", { owner: ann });
  expect(wrong.client.status().name).toBe("needs-auth");
  expect(wrong.slides.list()).toEqual([]);
  expect(first.client.status()).toMatchObject({ name: "online", leads: true });
});

test("[D44] an export says whose it is, and another owner imports it only to adopt it", async () => {
  const { open, server, settle } = profileOfMany();
  const first = await open("ann");
  first.offline();
  await first.slides.create({ title: "of ann" }, { id: "a" }).queued;
  const exported = JSON.parse(JSON.stringify(await first.client.exportPending()));
  expect(exported).toMatchObject({ owner: "org_test/test/user/ann", writes: [{ owner: "org_test/test/user/ann" }] });
  const other = await open("ben");
  await expect(other.client.importPending(exported)).rejects.toMatchObject({ code: "other_owner" });
  await settle();
  expect([server.head, other.client.status().pending]).toEqual([0, 0]);
  await expect(other.client.importPending(exported, { adopt: true })).resolves.toBe(1);
  await settle();
  expect(server.log.map(({ actor, id }) => [actor, id])).toEqual([["ben", "a"]]);
});

test("[D44] [D59] what a client of an unknown owner has imported is sent only as the export's owner", async () => {
  const first = profileOfMany();
  const annsTab = await first.open("ann");
  annsTab.offline();
  await annsTab.slides.create({ title: "of ann" }, { id: "a" }).queued;
  const exported = await annsTab.client.exportPending();
  const { open, server, settle } = profileOfMany();
  const unknown = await open("ben", { isUp: false });
  await expect(unknown.client.importPending(exported)).resolves.toBe(1);
  unknown.online();
  await settle();
  expect(unknown.client.status().name).toBe("online");
  expect(server.head).toBe(0);
  expect(unknown.client.attention()).toMatchObject([{ code: "unowned" }]);
});

test.each([
  ["that knows its owner", {}],
  ["that does not know its owner", { isUp: false }],
])("[D44] a client %s imports writes of an unknown owner only to adopt them", async (_, how) => {
  const first = profileOfMany();
  const nobodys = await first.open("ann", { isUp: false });
  await nobodys.slides.create({ title: "whose?" }, { id: "a" }).queued;
  const exported = JSON.parse(JSON.stringify(await nobodys.client.exportPending()));
  expect(exported).toMatchObject({ owner: null, writes: [{ owner: null }] });
  const { open, server, settle } = profileOfMany();
  const other = await open("ben", how);
  await expect(other.client.importPending(exported)).rejects.toMatchObject({ code: "other_owner" });
  expect(other.client.status().pending).toBe(0);
  await expect(other.client.importPending(exported, { adopt: true })).resolves.toBe(1);
  other.online();
  await settle();
  expect(server.log.map(({ actor, id }) => [actor, id])).toEqual([["ben", "a"]]);
});

test("[D44] [D58] an export names the first owner of its store for what was written before the client knew one", async () => {
  const { open, server, settle } = profileOfMany();
  const early = await open("ann", { isUp: false });
  await early.slides.create({ title: "early" }, { id: "a" }).queued;
  await early.client.close();
  const tab = await open("ann", { paused: true });
  expect((await tab.client.exportPending()).writes).toMatchObject([{ owner: null }]);
  tab.connection.answers.push("lost");
  tab.client.resume();
  await settle();
  tab.offline();
  const exported = await tab.client.exportPending();
  expect(exported.writes).toMatchObject([{ owner: "org_test/test/user/ann" }]);
  const elsewhere = await profileOfMany().open("ann");
  await expect(elsewhere.client.importPending(exported)).resolves.toBe(1);
  expect(server.log).toHaveLength(1);
});

test("[D44] [D58] an export of a store that several owners have used does not name an owner for a write whose owner was not known", async () => {
  const { open } = await writeOfUnknown();
  const tab = await open("ann");
  const exported = await tab.client.exportPending();
  expect(exported).toMatchObject({ owner: "org_test/test/user/ann", writes: [{ owner: null }] });
  await expect((await profileOfMany().open("ann")).client.importPending(exported)).rejects.toMatchObject({
    code: "other_owner",
  });
});

test("[D44] a client that meets another owner's token takes no import", async () => {
  const { open } = profileOfMany();
  const wrong = await open("ben", { owner: ann });
  const exported = { object: "holdfast_pending", version: 1, owner: null, writes: [] };
  await expect(wrong.client.importPending(exported, { adopt: true })).rejects.toMatchObject({ code: "not_owner" });
});
