import { randomUUID } from "node:crypto";
import { ways } from "./support/sent-writes.ts";
import {
  drained,
  eachOnce,
  freeze,
  sendsNothing,
  startClient,
  statusIn,
  threeTabs,
  threeTabsThatSend,
  write,
} from "./support/tabs.ts";
import { expect, test } from "./support/test.ts";

for (const way of ways)
  test(`[Y4] if the leader freezes while sending (${way}), another tab leads, and the old leader thaws as a follower`, async ({
    demo,
    context,
  }) => {
    const prefix = randomUUID();
    const { leader, second, third, followed } = await threeTabsThatSend(context, demo, prefix, 1_000, way);
    const thaw = await freeze(leader);
    await followed;
    await drained(second, third);
    await thaw();
    await drained(leader);
    await eachOnce(demo, prefix, 1_000);
    await sendsNothing(leader, demo, [second, third]);
  });

test("[Y6] if the site's storage is cleared under running tabs, they report it and still send pending writes", async ({
  demo,
  context,
}) => {
  const tabs = await threeTabs(context, demo);
  const [first, second] = tabs;
  const prefix = randomUUID();
  await context.setOffline(true);
  await write(first, prefix, 3);
  const session = await context.newCDPSession(first);
  const origin = new URL(demo.pageUrl).origin;
  await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "indexeddb" });

  // Before the next write: all earlier writes were reported as stored.
  for (const tab of tabs) await expect.poll(() => statusIn(tab)).toMatchObject({ name: "storage-failed", pending: 3 });
  const queued = await second.evaluate(
    (id) => client.models.slide.create({ title: "3" }, { id }).queued.then(() => "on disk", String),
    `${prefix}-3`,
  );
  expect(queued).toContain("SyncError");
  await context.setOffline(false);
  await drained(...tabs);
  await eachOnce(demo, prefix, 4);

  await first.reload();
  await startClient(first, demo, "ada");
  await expect.poll(() => statusIn(first)).toMatchObject({ name: "online", pending: 0 });
  expect(
    await first.evaluate((start) => client.models.slide.list().filter(({ id }) => id.startsWith(start)).length, prefix),
  ).toBe(4);
});
