import { randomUUID } from "node:crypto";
import { drained, eachOnce, firstSend, sendsWrites, threeTabs, write } from "./support/tabs.ts";
import { expect, test } from "./support/test.ts";

test("[Y4] a tab that stands still while it sends is followed within 10 s, and is a follower when it goes on", async ({
  demo,
  context,
}) => {
  test.setTimeout(45_000);
  const [leader, second, third] = await threeTabs(context, demo);
  const prefix = randomUUID();
  await context.setOffline(true);
  await write(leader, prefix, 400);
  const sent = firstSend(leader);
  const followed = Promise.any([firstSend(second), firstSend(third)]);
  await context.setOffline(false);
  await sent;
  // As the browser freezes a page: nothing of it runs, and it keeps its locks.
  const session = await context.newCDPSession(leader);
  await session.send("Debugger.enable");
  await session.send("Debugger.pause");
  const frozen = performance.now();
  expect((await followed) - frozen).toBeLessThan(10_000);
  await drained(second, third);

  await session.send("Debugger.resume");
  await session.send("Debugger.disable");
  await drained(leader);
  await eachOnce(demo, prefix, 400);
  let sentByOld = 0;
  leader.on("request", (request) => {
    if (sendsWrites(request.url())) sentByOld += 1;
  });
  const later = randomUUID();
  await write(leader, later, 1);
  await drained(leader, second, third);
  await eachOnce(demo, later, 1);
  expect(sentByOld).toBe(0);
});

test("[Y6] when the browser's storage is cleared under running tabs, what waits is sent, or said not to be stored", async ({
  demo,
  context,
}) => {
  const tabs = await threeTabs(context, demo);
  const [first, second] = tabs;
  const prefix = randomUUID();
  await context.setOffline(true);
  await write(first, prefix, 3);
  const session = await context.newCDPSession(first);
  await session.send("Storage.clearDataForOrigin", {
    origin: new URL(demo.pageUrl).origin,
    storageTypes: "indexeddb",
  });
  await second.evaluate(
    (id) => client.models.slide.create({ title: "3" }, { id }).queued.catch(() => {}),
    `${prefix}-3`,
  );
  console.log(await Promise.all(tabs.map((tab) => tab.evaluate(() => JSON.stringify(client.status())))));
  await context.setOffline(false);
  await drained(...tabs);
  await eachOnce(demo, prefix, 4);
});
