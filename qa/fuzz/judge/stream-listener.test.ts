import { expect, test } from "vitest";
import type { Holder } from "../exchange/actors.ts";
import type { Judging } from "./judge.ts";
import { createListener } from "./stream-listener.ts";

const SECRET = `sk_live_${"a".repeat(36)}`;
const judging: Judging = {
  actors: { holders: new Map(), judged: new Set(["o live"]), organizations: [] },
  schema: { models: { slide: { fields: { deckId: { type: "string" } }, groups: [{ kind: "deck", from: "deckId" }] } } },
  url: "http://127.0.0.1:1",
  secrets: new Map([[SECRET, "live"]]),
  adminToken: "admin_x",
  expectResponse: () => undefined,
  shown: () => {},
};
const live: Holder = {
  name: "live",
  authorization: "",
  token: "",
  kind: "sk",
  tenant: "o live",
  organization: "o",
  scope: undefined,
};
const narrow: Holder = { ...live, kind: "rk", scope: { operations: ["slide.*"], syncGroups: ["deck:d0"] } };

/** The violations in the frames of a socket with these tokens. */
function faults(speakers: readonly Holder[], frames: readonly object[]): string[] {
  const found: string[] = [];
  const { authenticated, receive } = createListener(judging, (fault) => found.push(fault));
  for (const who of speakers) authenticated(who);
  for (const frame of frames) receive(JSON.stringify(frame));
  return found;
}

const welcome = { frame: "welcome", resumeFrom: 3, participant: "agent:ada" };
const entries = (from: number, to: number, ...deckIds: string[]) => ({
  frame: "entries",
  from,
  to,
  entries: deckIds.map((deckId, i) => ({ syncId: from + i + 1, model: "slide", id: "i1", data: { id: "i1", deckId } })),
});
const claim = (actor: string) => ({ frame: "claim", claim: { id: "claim_1", participantKind: "agent", actor } });
const presence = (room: string) => ({ frame: "presence", room });
const claims = (model: string) => ({ frame: "claims", model, id: "i1", claims: [], queue: [] });

test("[F3] correct frames produce no violations", () => {
  const pong = { frame: "pong", n: 1, stamp: 3 };
  const schema = { frame: "schema", version: 1, hash: "x" };
  const log = [entries(3, 5, "d0", "d0"), entries(5, 5), { frame: "resync", reason: "scope" }, entries(9, 9)];
  const allowed = [claim("ada"), claims("slide"), presence("deck:d0"), pong, schema];
  expect(faults([narrow], [welcome, ...allowed, ...log])).toEqual([]);
  // A secret key sees everything, and any token that was sent on the socket may be in effect.
  const all = [welcome, entries(3, 4, "d9"), claims("document"), presence("deck:d9")];
  expect(faults([live], all)).toEqual([]);
  expect(faults([narrow, live], all)).toEqual([]);
});

test.each([
  ["a frame of another kind", { frame: "gossip" }, 'a frame "gossip"'],
  ["the name of what every object has", { frame: "constructor" }, 'a frame "constructor"'],
  ["a token", { frame: "pong", n: SECRET }, "a frame: "],
  ["a gap in the log", entries(4, 5), "(4, 5] came at position 3"],
  ["an entry that its token does not cover", entries(3, 4, "d9"), "a stream was told of the slide i1"],
  ["an entry outside of its range", { ...entries(3, 4, "d0", "d0") }, "entry 5 came after 4 in (3, 4]"],
  ["a room that its token does not cover", presence("deck:d9"), "a stream was told of the room deck:d9"],
  ["another participant's claim as one's own", claim("bob"), "agent:ada was told of the claim claim_1"],
  ["who claims what its token does not cover", claims("document"), "a stream was told who claims the document i1"],
  ["an error without an envelope", { frame: "error", code: "x" }, "a frame: "],
])("[F3] a violation: %s", (_, frame, fault) => {
  expect(faults([narrow], [welcome, frame]).join("\n")).toContain(fault);
});
