import { expect, test, vi } from "vitest";
import { startPeople } from "./people.ts";

const { person, agent } = await startPeople();

test("[U12] [U13] people and agents in a room see each other, with the latest state of each", async () => {
  const ann = await person("ann");
  const second = await person("ann");
  const ben = await agent("ben");
  const mine = ann.client.presence("deck:d1");
  const theirs = ben.client.presence("deck:d1");
  mine.set({ name: "Ann" });
  second.client.presence("deck:d1").set({ name: "Ann, too" });
  theirs.set({ cursor: 0 });
  await vi.waitFor(() => expect([mine.status(), theirs.status()]).toEqual(["live", "live"]), 5_000);
  await vi.waitFor(() => expect(mine.others()).toMatchObject([{ participant: "agent:ben", state: { cursor: 0 } }]));
  await vi.waitFor(() => expect(theirs.others()).toMatchObject([{ participant: "user:ann", sessions: [{}, {}] }]));
  expect(theirs.others()).toHaveLength(1);
  for (let cursor = 1; cursor <= 200; cursor++) theirs.set({ cursor });
  await vi.waitFor(() => expect(mine.others()).toMatchObject([{ state: { cursor: 200 } }]));
  theirs.leave();
  await vi.waitFor(() => expect(mine.others()).toEqual([]));
  await second.client.close();
  await vi.waitFor(() => expect(mine.self()).toMatchObject({ participantId: "ann", sessions: [{}] }));
});

test("[U12] after a pause the client is in its rooms again with its latest state", async () => {
  const cem = await person("cem");
  const dan = await person("dan");
  const mine = cem.client.presence("deck:d1");
  mine.set({ at: 7 });
  const theirs = dan.client.presence("deck:d1");
  theirs.set({});
  const cemAsSeen = () => theirs.others().find((peer) => peer.participantId === "cem");
  await vi.waitFor(() => expect(cemAsSeen()).toMatchObject({ state: { at: 7 } }), 5_000);
  cem.client.pause();
  expect(mine.status()).toBe("connecting");
  cem.client.resume();
  await vi.waitFor(() => expect(mine.status()).toBe("live"), 5_000);
  expect(cemAsSeen()).toMatchObject({ state: { at: 7 } });
});

test("[U14] rooms out of scope and invalid room names are denied; the connection continues", async () => {
  const eve = await person("eve");
  const good = eve.client.presence("deck:d1");
  const far = eve.client.presence("deck:elsewhere");
  good.set({});
  far.set({});
  await vi.waitFor(() => expect(far.status()).toBe("denied"), 5_000);
  expect(far.error()).toMatchObject({ code: "capability_scope_denied" });
  await vi.waitFor(() => expect(good.status()).toBe("live"), 10_000);
  const odd = eve.client.presence("no room at all");
  odd.set({});
  await vi.waitFor(() => expect(odd.status()).toBe("denied"), 5_000);
  await vi.waitFor(() => expect([good.status(), eve.client.status().name]).toEqual(["live", "online"]), 10_000);
});
