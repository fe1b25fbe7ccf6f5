import { limits } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { recordKey } from "../../../kernel/commits/rules/commit-request.ts";
import type { Principal } from "../../../kernel/tokens/rules/participant.ts";
import type { FollowClaims } from "../flows/follow-claims.ts";
import { queueFrame } from "./claim-frames.ts";
import type { ClaimHub, OnQueue } from "./claim-hub.ts";
import { createClaimWatch } from "./claim-watch.ts";
import { createWatchQuota, type WatchShare } from "./watch-quota.ts";

const reader = {
  tenant: 1,
  participantKind: "user",
  participantId: "ann",
  tokenId: "key",
  scope: undefined,
} as Principal;

/** A watch, and how many records are listened to. */
function open(
  groups: (id: string) => readonly string[] | undefined = () => ["deck:a"],
  share: WatchShare = createWatchQuota(limits.watchedPerToken).share(),
) {
  const keys = new Set<string>();
  let listeners = 0;
  const sent: string[] = [];
  let onQueue: OnQueue = () => {};
  const news = {
    listen: async () => () => {},
    watch: async (_: number, listener: OnQueue) => {
      onQueue = listener;
      listeners += 1;
      return { add: (key: string) => keys.add(key), remove: (key: string) => keys.delete(key), end: () => listeners-- };
    },
  } as unknown as ClaimHub;
  const follow = {
    queues: async (names: readonly { id: string }[]) =>
      names.map(({ id }) => ({ claims: [], groups: groups(id), isAttached: false, asOf: 0, now: 0 })),
    modelNames: async () => (model: string) => model,
  } as unknown as FollowClaims;
  const watch = createClaimWatch({
    ...{ hub: news, follow, share, reader: () => reader },
    notify: (text) => void sent.push(JSON.parse(text).id),
  });
  void watch.begin(reader);
  /** A claim of a record that is there now has changed: sent to its listeners. */
  const change = (model: string, id: string) => {
    const queue = { claims: [], groups: ["deck:a"], isAttached: false, asOf: 1, now: 0 };
    if (keys.has(recordKey(model, id))) onQueue(recordKey(model, id), { queue, text: queueFrame(model, id, queue) });
  };
  return { watch, sent, keys, change, listeners: () => listeners };
}

const many = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

test("[A17] [A34] the sockets of a token watch so many records together and no more, over all models; what is replaced or given up does not count", async () => {
  const quota = createWatchQuota(limits.watchedPerToken);
  const [one, two] = [open(undefined, quota.share()), open(undefined, quota.share())];
  const models = limits.watchedPerToken / limits.watchedPerModel;
  for (let i = 0; i < models; i++) {
    const { watch } = i % 2 === 0 ? one : two;
    expect(await watch.watch(reader, `m${i}`, many("r", limits.watchedPerModel))).toBe("watching");
  }
  expect(await one.watch.watch(reader, "m0", many("other", limits.watchedPerModel))).toBe("watching");
  expect(one.keys.size + two.keys.size).toBe(limits.watchedPerToken);
  expect(one.listeners()).toBe(1);
  expect(two.listeners()).toBe(1);
  for (const { watch } of [one, two]) expect(await watch.watch(reader, "more", ["one"])).toBe("too many");
  expect(await one.watch.watch(reader, "more", [])).toBe("watching");
  const other = { ...reader, tokenId: "another" } as Principal;
  const third = open(undefined, quota.share());
  expect(await third.watch.watch(other, "more", ["one"])).toBe("watching");
  one.watch.end();
  expect(one.keys.size).toBe(0);
  expect(one.listeners()).toBe(0);
  expect(await two.watch.watch(reader, "more", ["one"])).toBe("watching");
  two.watch.end();
  third.watch.end();
  expect(two.keys.size).toBe(0);
  expect(two.listeners()).toBe(0);
  expect(third.keys.size).toBe(0);
  expect(third.listeners()).toBe(0);
});

test("[A17] [A36] a record that was out of view is sent when it is requested again", async () => {
  let filed: readonly string[] | undefined;
  const { watch, sent } = open(() => filed);
  await watch.watch(reader, "slide", ["s1"]);
  filed = ["deck:a"];
  await watch.watch(reader, "slide", ["s1", "s2"]);
  await watch.watch(reader, "slide", ["s1", "s2"]);
  expect(sent).toEqual(["s1", "s2"]);
});

test("[A27] [A36] of unsent records the 100 requested last are kept, over all models; the others use no memory", async () => {
  const quota = createWatchQuota(limits.watchedPerModel);
  const { watch, sent, keys, change } = open((id) => (id.startsWith("there") ? ["deck:a"] : undefined), quota.share());
  await watch.watch(reader, "slide", [...many("there", 50), ...many("not", 300)]);
  expect(sent.length).toBe(50);
  expect(keys.size).toEqual(50 + 100);
  await watch.watch(reader, "deck", many("not", 30));
  expect(keys.size).toBe(50 + 100);
  // The token has room for what this one does not keep.
  const other = open(undefined, quota.share());
  expect(await other.watch.watch(reader, "deck", many("there", limits.watchedPerModel - 150))).toBe("watching");
  expect(await other.watch.watch(reader, "more", ["one"])).toBe("too many");
  sent.length = 0;
  for (const id of ["not0", "not229", "not230", "not299", "there0"]) change("slide", id);
  expect(sent).toEqual(["not230", "not299", "there0"]);
  // Sent once, they stay, and make room for others that nothing was sent about.
  other.watch.end();
  await watch.watch(reader, "room", many("not", 2));
  expect(keys.size).toBe(50 + 2 + 100);
  watch.end();
  expect(keys.size).toBe(0);
});

test("[A27] a repeated request counts as the latest", async () => {
  const { watch, keys } = open(() => undefined);
  await watch.watch(reader, "slide", many("a", 150));
  await watch.watch(reader, "slide", many("a", 151));
  expect([...keys].sort()).toEqual(
    many("a", 151)
      .slice(-100)
      .map((id) => recordKey("slide", id))
      .sort(),
  );
});
