import { randomUUID } from "node:crypto";
import { receiptsOf, twoTabsWithoutLocks } from "./support/insecure-tabs.ts";
import { drained, eachOnce, statusIn } from "./support/tabs.ts";
import { expect, test } from "./support/test.ts";

const WRITES = 6;

test("[Q41] on an insecure origin two tabs write, each write once, and one continues when the other closes", async ({
  demo,
}) => {
  const { first, openSecond, close } = await twoTabsWithoutLocks(demo, 20);
  try {
    expect(await first.evaluate(() => [isSecureContext, "locks" in navigator])).toEqual([false, false]);
    const prefix = randomUUID();
    const second = await openSecond();
    await receiptsOf(first, `${prefix}-0`, WRITES);
    await receiptsOf(second, `${prefix}-1`, WRITES);
    // At once: each waits for the request of the other, and each gets a response.
    await Promise.all([receiptsOf(first, `${prefix}-2`, WRITES), receiptsOf(second, `${prefix}-3`, WRITES)]);
    await drained(first, second);
    for (const own of [0, 1, 2, 3]) await eachOnce(demo, `${prefix}-${own}`, WRITES);
    expect((await Promise.all([first, second].map(statusIn))).map(({ leads }) => leads)).toEqual([true, false]);
    await first.close();
    await expect.poll(async () => (await statusIn(second)).leads).toBe(true);
    await receiptsOf(second, `${prefix}-4`, WRITES);
    await eachOnce(demo, `${prefix}-4`, WRITES);
  } finally {
    await close();
  }
});
