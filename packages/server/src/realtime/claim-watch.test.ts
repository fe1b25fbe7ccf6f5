import { limits } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import type { FollowClaims } from "../flows/follow-claims.ts";
import type { Principal } from "../rules/participant.ts";
import type { ClaimNews } from "./claim-news.ts";
import { createClaimWatch } from "./claim-watch.ts";

const reader = { world: 1, participantKind: "user", participantId: "ann", scope: undefined } as Principal;

/** A watch, and how many listeners it has. */
function open(groups: () => readonly string[] | undefined = () => ["deck:a"]) {
  let listeners = 0;
  const told: string[] = [];
  const join = async () => {
    listeners += 1;
    return () => void listeners--;
  };
  const news = { watch: join, hear: join } as unknown as ClaimNews;
  const follow = {
    lines: async (names: readonly unknown[]) => names.map(() => ({ claims: [], groups: groups(), asOf: 0, now: 0 })),
    modelNames: async () => (model: string) => model,
  } as unknown as FollowClaims;
  const watch = createClaimWatch(
    news,
    follow,
    (text) => void told.push(JSON.parse(text).id),
    () => reader,
  );
  return { watch, told, listeners: () => listeners };
}

const many = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

test("[A17] a socket watches so many records and no more, over all models; what is replaced does not count", async () => {
  const { watch, listeners } = open();
  const models = limits.watchedPerSession / limits.watchedPerModel;
  for (let i = 0; i < models; i++)
    expect(await watch.watch(reader, `m${i}`, many("r", limits.watchedPerModel))).toBe("watching");
  expect(await watch.watch(reader, "m0", many("other", limits.watchedPerModel))).toBe("watching");
  expect(listeners()).toBe(limits.watchedPerSession);
  expect(await watch.watch(reader, "more", ["one"])).toBe("too many");
  expect(await watch.watch(reader, "more", [])).toBe("watching");
  expect(listeners()).toBe(limits.watchedPerSession);
  watch.end();
  expect(listeners()).toBe(0);
});

test("[A17] a record that could not be seen is told when it is asked for again", async () => {
  let filed: readonly string[] | undefined;
  const { watch, told } = open(() => filed);
  await watch.watch(reader, "slide", ["s1"]);
  filed = ["deck:a"];
  await watch.watch(reader, "slide", ["s1", "s2"]);
  await watch.watch(reader, "slide", ["s1", "s2"]);
  expect(told).toEqual(["s1", "s2"]);
});
