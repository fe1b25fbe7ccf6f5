import { expect, test } from "vitest";
import { MemoryDisk, memoryStorage } from "../storage/memory.ts";
import { Profile } from "../testing/profile.ts";
import { createTestServer } from "../testing/test-server.ts";

const schema = { models: { note: { fields: { body: { type: "string", merge: "text" } } } } } as const;

/** A profile with two tabs, of which the first leads, and another device. */
async function tabs() {
  const own = createTestServer(schema);
  const [disk, profile] = [new MemoryDisk(), new Profile()];
  const open = async () => {
    const tab = profile.tab();
    const made = own.client({ disk, platform: { tabs: () => tab.tabs, storage: async () => memoryStorage(disk) } });
    await own.settle();
    return { ...made, tab, notes: made.client.models.note };
  };
  const [leader, follower] = [await open(), await open()];
  const other = own.client({ actor: "ben" });
  leader.notes.create({ body: "one two three" }, { id: "n" });
  await own.settle();
  return { ...own, open, disk, leader, follower, other, others: other.client.models.note };
}

test("[MT10] a write of a follower tab is merged by the leader: its promise follows, and no tab shows a conflict", async () => {
  const { leader, follower, others, settle, server, disk } = await tabs();
  leader.connection.quiet = true;
  others.update("n", { body: "one two drei" });
  await settle();
  const shown = new Set<unknown>();
  const conflicts = new Set<number>();
  follower.client.subscribe(() => shown.add(follower.notes.get("n")?.body));
  for (const { client } of [leader, follower]) client.subscribe(() => conflicts.add(client.conflicts().length));
  const write = follower.notes.update("n", { body: "uno two three" }, { clientTxId: "t" });
  await settle();
  leader.connection.quiet = false;
  leader.connection.flush();
  for (let i = 0; i < 4; i++) await settle();
  await expect(write.receipt).resolves.toMatchObject({ status: "confirmed", clientTxId: "t~1" });
  expect(server.rows.get("note/n")?.data.body).toBe("uno two drei");
  expect([...shown]).toEqual(["uno two three", "uno two drei"]);
  expect([...conflicts]).toEqual([0]);
  expect([leader, follower].map(({ client }) => client.status().pending)).toEqual([0, 0]);
  expect(disk.queue()).toEqual([]);
});

test("[MT10] writes of both tabs on one text are merged and committed once each", async () => {
  const { leader, follower, others, settle, server, clock } = await tabs();
  leader.client.pause();
  follower.client.pause();
  others.update("n", { body: "one two drei" });
  await settle();
  leader.notes.update("n", { body: "uno two three" });
  await settle();
  follower.notes.update("n", { body: "uno dos three" });
  await settle();
  leader.client.resume();
  follower.client.resume();
  for (let i = 0; i < 10; i++) {
    await settle();
    clock.advance(3_000);
  }
  expect(server.rows.get("note/n")?.data.body).toBe("uno dos drei");
  expect(server.log.filter(({ actor }) => actor !== "ben")).toHaveLength(3);
  expect([leader, follower].map(({ client }) => client.status().conflicts)).toEqual([0, 0]);
});
