import { expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import type { CommittedBatch } from "../commits/flows/round-result.ts";
import type { FollowLog } from "../log/flows/follow-log.ts";
import { NO_SCHEMA } from "../schema/flows/schema-cache.ts";
import type { HeadPoll } from "./head-poll.ts";
import { createHub } from "./hub.ts";
import type { News } from "./news.ts";

const schema = { ...NO_SCHEMA, version: 1, rowsVersion: 1 };
const poll: HeadPoll = { watch: () => () => {}, askAll: () => {}, close: () => {} };
const log = { current: async () => ({ head: { syncId: 0 }, schema }) } as unknown as FollowLog;

test("[T9] while it rests from a telling that took long, what is committed becomes one piece of news", async () => {
  const hub = createHub(log, poll, (error) => {
    throw error;
  });
  const received: Pick<News, "from" | "to">[] = [];
  const onNews = ({ from, to }: News) => {
    received.push({ from, to });
    for (const end = performance.now() + 5; performance.now() < end; );
  };
  const subscription = await hub.listen(1, { onNews, onSchemaPushed: () => {} });
  subscription.hear({ view: { models: undefined, groups: undefined }, clientId: null });
  const committed = (from: number, to: number) =>
    hub.committed({ tenant: 1, from, to, entries: [], schema } as CommittedBatch);
  committed(0, 1);
  committed(1, 2);
  committed(2, 5);
  expect(received).toEqual([{ from: 0, to: 1 }]);
  // Who begins to listen now need not hear them: they are in the log.
  expect(subscription.position()).toBe(5);
  await until(() =>
    expect(received).toEqual([
      { from: 0, to: 1 },
      { from: 1, to: 5 },
    ]),
  );
  subscription.end();
});
