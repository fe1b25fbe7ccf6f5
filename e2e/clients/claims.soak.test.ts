import { expect, test } from "vitest";
import { giveTime } from "../../scripts/testing/give-time.ts";
import { until } from "../../scripts/testing/until.ts";
import { startPeople } from "./people.ts";

const { person, agent, slide } = await startPeople();

const [ann, ben] = [await person("ann"), await agent("ben")];

test.each([
  { how: "its stream", stream: true },
  { how: "a long poll", stream: false },
])("[U6] [U16] a waiting client learns of its grant by $how, within 5 s of the release", async ({ stream }) => {
  const id = await slide();
  const one = await agent("one", { stream });
  const two = await agent("two", { stream });
  const first = await one.client.models.slide.claim(id);
  const waiting = two.client.models.slide.claim(id, { queue: true });
  // A client without a push asks again later than that.
  await giveTime(1_500);
  const began = performance.now();
  await first.release();
  await using _ = await waiting;
  expect(performance.now() - began).toBeLessThan(5_000);
});

test("[U3] a lease is renewed until it is released", async () => {
  const id = await slide();
  await using lease = await ann.client.models.slide.claim(id, { ttl: "20s" });
  for (let renewal = 0; renewal < 3; renewal++) {
    let least = lease.remainingMs();
    await until(async () => {
      const remaining = lease.remainingMs();
      if (remaining > least) return true;
      least = remaining;
      return false;
    });
    expect(lease.remainingMs()).toBeGreaterThan(0);
    await expect(ben.client.models.slide.claim(id)).rejects.toMatchObject({ code: "claim_conflict" });
  }
});

test("[U10] a lease whose time ends offline is lost, and an edit under it is a conflict", async () => {
  const id = await slide();
  await until(() => expect(ann.client.models.slide.get(id)).toBeDefined());
  const lease = await ann.client.models.slide.claim(id, { ttl: "10s" });
  ann.client.pause();
  const write = lease.update({ title: "Ann's" });
  expect(await lease.lost).toMatchObject({ reason: "deadline" });
  const theirs = await ben.client.models.slide.claim(id, { queue: true });
  await theirs.update({ title: "Ben's" }).receipt;
  ann.client.resume();
  await expect(write.receipt).rejects.toMatchObject({ code: "claim_lost" });
  await until(() =>
    expect(ann.client.conflicts()).toMatchObject([{ reason: "claim_lost", theirs: { title: "Ben's" } }]),
  );
  await theirs.release();
});
