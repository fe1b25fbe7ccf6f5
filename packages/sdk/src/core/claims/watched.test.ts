import { expect, test } from "vitest";
import { knowledgeOf, onClaimsFrame, unwatch, type Watched, watch, watchDue, withoutKnown } from "./watched.ts";

const free = { frame: "claims", model: "Slide", id: "s1", claims: [], queue: [] } as const;
const received = (watched: Watched) => onClaimsFrame(watched, { ...free, claims: [], queue: [] });
const sent = (watched: Watched) => watchDue(watched, 10_000).watched;

test("[U11] on a new connection nothing is known before the server has sent it again", () => {
  const before = received(sent(watch(new Map(), "slide", ["s1"], 0)));
  expect(knowledgeOf(before, true, "slide", "s1").state).toBe("known");
  expect(knowledgeOf(before, false, "slide", "s1")).toEqual({ state: "unknown", why: "connection" });
  const after = withoutKnown(before);
  expect(knowledgeOf(after, true, "slide", "s1")).toEqual({ state: "unknown", why: "asking" });
  expect(watchDue(after, 10_000).frames).toEqual([{ frame: "watch", model: "slide", ids: ["s1"] }]);
  expect(knowledgeOf(received(sent(after)), true, "slide", "s1").state).toBe("known");
});

test("[U11] a record that is no longer watched is unknown, even if the server still sends its claims", () => {
  const before = unwatch(received(sent(watch(new Map(), "slide", ["s1"], 0))), "slide", ["s1"], 0);
  expect(knowledgeOf(received(before), true, "slide", "s1")).toEqual({ state: "unknown", why: "not-watched" });
  expect(watchDue(before, 10_000).frames).toEqual([{ frame: "watch", model: "slide", ids: [] }]);
});

test("[U11] unwatching a record and watching it again soon sends no frame", () => {
  const before = sent(watch(new Map(), "slide", ["s1"], 0));
  const again = watch(unwatch(before, "slide", ["s1"], 0), "slide", ["s1"], 500);
  expect(watchDue(again, 10_000).frames).toEqual([]);
});

test("[V27] unchanged claims that the server sends again are not reported", () => {
  const before = received(sent(watch(new Map(), "slide", ["s1"], 0)));
  expect(received(before)).toBe(before);
});
