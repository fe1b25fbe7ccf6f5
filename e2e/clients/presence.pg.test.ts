import { expect, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
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
  await until(() => expect([mine.status(), theirs.status()]).toEqual(["live", "live"]));
  await until(() => expect(mine.others()).toMatchObject([{ participant: "agent:ben", state: { cursor: 0 } }]));
  await until(() => expect(theirs.others()).toMatchObject([{ participant: "user:ann", sessions: [{}, {}] }]));
  expect(theirs.others()).toHaveLength(1);
  for (let cursor = 1; cursor <= 200; cursor++) theirs.set({ cursor });
  await until(() => expect(mine.others()).toMatchObject([{ state: { cursor: 200 } }]));
  theirs.leave();
  await until(() => expect(mine.others()).toEqual([]));
  await second.client.close();
  await until(() => expect(mine.self()).toMatchObject({ participantId: "ann", sessions: [{}] }));
});

test("[U12] after a pause the client is in its rooms again with its latest state", async () => {
  const cem = await person("cem");
  const dan = await person("dan");
  const mine = cem.client.presence("deck:d1");
  mine.set({ at: 7 });
  const theirs = dan.client.presence("deck:d1");
  theirs.set({});
  const cemAsSeen = () => theirs.others().find((peer) => peer.participantId === "cem");
  await until(() => expect(cemAsSeen()).toMatchObject({ state: { at: 7 } }));
  cem.client.pause();
  expect(mine.status()).toBe("connecting");
  cem.client.resume();
  await until(() => expect(mine.status()).toBe("live"));
  await until(() => expect(cemAsSeen()).toMatchObject({ state: { at: 7 } }));
});

test("[U14] rooms out of scope and invalid room names are denied; the connection continues", async () => {
  const eve = await person("eve");
  const good = eve.client.presence("deck:d1");
  const far = eve.client.presence("deck:elsewhere");
  good.set({});
  far.set({});
  await until(() => expect(far.status()).toBe("denied"));
  expect(far.error()).toMatchObject({ code: "capability_scope_denied" });
  await until(() => expect(good.status()).toBe("live"));
  const odd = eve.client.presence("no room at all");
  odd.set({});
  await until(() => expect(odd.status()).toBe("denied"));
  await until(() => expect([good.status(), eve.client.status().name]).toEqual(["live", "online"]));
});
