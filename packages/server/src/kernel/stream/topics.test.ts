import { expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { createTopics } from "./topics.ts";

/** Topics whose reads the test answers, and a record of the opened and closed ones. */
function setUp() {
  const reads: { tenant: number; answer(start: number): void; fail(): void }[] = [];
  const events: string[] = [];
  const topics = createTopics({
    read: (tenant) =>
      new Promise<number>((resolve, reject) =>
        reads.push({ tenant, answer: resolve, fail: () => reject(new Error("away")) }),
      ),
    open: (tenant, start) => {
      events.push(`open ${tenant} at ${start}`);
      return { start, received: [] as string[], close: () => void events.push(`close ${tenant} at ${start}`) };
    },
  });
  return { topics, reads, events };
}

test("[T10] the first subscriber opens the topic, the last one that leaves closes it", async () => {
  const { topics, reads, events } = setUp();
  const first = topics.subscribe(1);
  const second = topics.subscribe(1);
  const other = topics.subscribe(2);
  expect(reads.map(({ tenant }) => tenant)).toEqual([1, 2]);
  expect(topics.get(1)).toBeUndefined();
  for (const read of reads) read.answer(5);
  const [a, b, c] = await Promise.all([first, second, other]);
  expect(a.topic).toBe(b.topic);
  expect(topics.get(1)).toBe(a.topic);
  a.end();
  // A subscription that ends twice does not end another one.
  a.end();
  expect(events).toEqual(["open 1 at 5", "open 2 at 5"]);
  b.end();
  expect(events.at(-1)).toBe("close 1 at 5");
  expect(topics.get(1)).toBeUndefined();
  expect(topics.get(2)).toBe(c.topic);
});

test("[T2] news that arrive while a topic opens wait for it, and none waits for a topic without subscribers", async () => {
  const { topics, reads } = setUp();
  const receive = (text: string) => topics.whenOpen(1, ({ received }) => received.push(text));
  receive("before");
  const subscribing = topics.subscribe(1);
  receive("during");
  reads[0]?.answer(0);
  const { topic, end } = await subscribing;
  receive("after");
  expect(topic.received).toEqual(["during", "after"]);
  end();
  receive("too late");
  expect(topic.received).toEqual(["during", "after"]);
});

test("[T10] if the last subscriber leaves while another one enters, the topic is opened anew", async () => {
  const { topics, reads, events } = setUp();
  const first = topics.subscribe(1);
  reads[0]?.answer(1);
  const { end } = await first;
  const second = topics.subscribe(1);
  end();
  await until(() => expect(reads.length).toBe(2));
  reads[1]?.answer(2);
  const { topic } = await second;
  expect(topic.start).toBe(2);
  expect(topics.get(1)).toBe(topic);
  expect(events).toEqual(["open 1 at 1", "close 1 at 1", "open 1 at 2"]);
});

test("[O19] if all topics are closed during a read, its result is discarded and read again", async () => {
  const { topics, reads, events } = setUp();
  const subscribing = topics.subscribe(1);
  const discarded: string[] = [];
  topics.whenOpen(1, () => discarded.push("of the old log"));
  topics.closeAll();
  reads[0]?.answer(700);
  await until(() => expect(reads.length).toBe(2));
  reads[1]?.answer(3);
  expect((await subscribing).topic.start).toBe(3);
  expect(events).toEqual(["open 1 at 3"]);
  expect(discarded).toEqual([]);
});

test("[O19] subscriptions to a topic that was closed with all others do not touch its successor", async () => {
  const { topics, reads, events } = setUp();
  const before = topics.subscribe(1);
  reads[0]?.answer(700);
  const old = await before;
  topics.closeAll();
  const after = topics.subscribe(1);
  reads[1]?.answer(3);
  const current = await after;
  old.end();
  expect(topics.get(1)).toBe(current.topic);
  expect(events).toEqual(["open 1 at 700", "close 1 at 700", "open 1 at 3"]);
});

test("[T10] a failed read fails its subscribers, and the next subscriber reads again", async () => {
  const { topics, reads } = setUp();
  const subscribing = topics.subscribe(1);
  reads[0]?.fail();
  await expect(subscribing).rejects.toThrow("away");
  const next = topics.subscribe(1);
  reads[1]?.answer(4);
  expect((await next).topic.start).toBe(4);
});
