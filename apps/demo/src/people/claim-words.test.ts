import type { SeenClaim } from "@holdfast/sdk";
import { expect, test } from "vitest";
import { claimWords, isLocked } from "./claim-words.ts";

const claim = (actor: string, more: Partial<SeenClaim> = {}): SeenClaim => ({
  object: "claim",
  id: `claim_${actor}`,
  actor,
  participantKind: "user",
  action: "edit",
  status: "active",
  description: null,
  meta: null,
  createdAt: "2026-01-01T00:00:00.000Z",
  target: { model: "slide", resource: "slide", id: "s1" },
  isMine: false,
  ...more,
});
const nameOf = (participant: string) => participant.replace(/^\w+:/, "");
const words = (asked: Partial<Parameters<typeof claimWords>[0]>) =>
  claimWords({ status: "free", holder: undefined, position: undefined, queue: [], isHere: true, nameOf, ...asked });

test("the sentence names who edits, the reason and who waits", () => {
  expect(words({ status: "theirs", holder: claim("ben") })).toEqual({ says: "Ben is editing.", offers: "wait" });
  const agent = claim("proofreader", { participantKind: "agent", description: "Proofreading" });
  expect(words({ status: "theirs", holder: agent, queue: [claim("ben"), claim("cem")] })).toEqual({
    says: "Proofreader: Proofreading. Ben and cem wait.",
    offers: "take-over",
  });
});

test("a waiter sees their place, and the editor sees who waits", () => {
  const waiting = { status: "waiting", holder: claim("ben") } as const;
  expect(words({ ...waiting, position: 0 })).toEqual({ says: "Ben is editing. You are next.", offers: "leave-queue" });
  expect(words({ ...waiting, position: 2 })?.says).toBe("Ben is editing. You are number 3 in the line.");
  expect(words({ status: "mine", queue: [claim("ben")] })?.says).toBe("You are editing. Ben waits.");
});

test("a turn that came while one was elsewhere is offered, and can be given up", () => {
  expect(words({ status: "mine", isHere: false })).toEqual({ says: "It is your turn.", offers: "let-go" });
});

test("there is nothing to say of a slide that is free, one's own, or not known about", () => {
  expect(words({})).toBeUndefined();
  expect(words({ status: "unknown" })).toBeUndefined();
  expect(words({ status: "mine" })).toBeUndefined();
  expect(words({ status: "waiting" })).toBeUndefined();
});

test("a slide is locked while another participant is known to hold it", () => {
  expect(isLocked({ status: "theirs", holder: claim("ben") })).toBe(true);
  expect(isLocked({ status: "waiting", holder: claim("ben") })).toBe(true);
  expect(isLocked({ status: "waiting", holder: undefined })).toBe(false);
  expect(isLocked({ status: "mine", holder: claim("ada", { isMine: true }) })).toBe(false);
  expect(isLocked({ status: "unknown", holder: undefined })).toBe(false);
});
