import { expect, test } from "vitest";
import { create, emptyTenant, NOW, outcomeOf, remove, update, write } from "../../../testing/tenant.ts";
import type { ClaimState } from "./claim.ts";
import { claimsOf } from "./claims-state.ts";

const now = Date.parse(NOW);
const held = (rest: Partial<ClaimState> = {}): ClaimState => ({
  id: "claim_1",
  model: "slide",
  record: "s1",
  field: null,
  status: "active",
  participant: "user:ann",
  tokenId: "key_1",
  clientId: null,
  groups: null,
  action: "edit",
  description: null,
  meta: null,
  attribution: null,
  ttlMs: 60_000,
  place: 1,
  grantedSyncId: 1,
  fence: 1,
  createdAt: now,
  grantedAt: now,
  expiresAt: now + 1,
  endedAt: null,
  seenAt: now,
  revokedAt: null,
  ...rest,
});
const tenant = (...claims: ClaimState[]) => {
  const state = emptyTenant();
  write(state, [create("slide", "s1", { title: "a", deckId: "d" })], { id: "ann" });
  write(state, [create("slide", "s2", {})], { id: "ann" });
  claimsOf(state).queues.set("slide/s1", claims);
  return state;
};
const title = update("slide", "s1", { title: "b" });

test.each([
  ["the holder, unnamed", {}, "ann", title, "confirmed"],
  ["the holder, named", {}, "ann", { ...title, claim: "claim_1" }, "confirmed"],
  ["another participant", {}, "bob", title, "claim_conflict"],
  ["another participant, with the holder's claim", {}, "bob", { ...title, claim: "claim_1" }, "claim_lost"],
  ["another name", {}, "ann", { ...title, claim: "claim_2" }, "claim_lost"],
  ["a name on another record", {}, "ann", { ...update("slide", "s2", { title: "b" }), claim: "claim_1" }, "claim_lost"],
  ["over, named", { expiresAt: now }, "ann", { ...title, claim: "claim_1" }, "claim_lost"],
  ["over, others", { expiresAt: now }, "bob", title, "confirmed"],
  ["revoked, others", { revokedAt: now }, "bob", title, "confirmed"],
  ["revoked, named", { revokedAt: now }, "ann", { ...title, claim: "claim_1" }, "claim_lost"],
  ["waiting, others", { status: "queued" as const, expiresAt: null }, "bob", title, "confirmed"],
  [
    "waiting, named",
    { status: "queued" as const, expiresAt: null },
    "ann",
    { ...title, claim: "claim_1" },
    "claim_lost",
  ],
  ["another field", { field: "notes" }, "bob", title, "confirmed"],
  [
    "the field, with the same value",
    { field: "title" },
    "bob",
    update("slide", "s1", { title: "a" }),
    "claim_conflict",
  ],
  [
    "a change of the field",
    { field: "order" },
    "bob",
    update("slide", "s1", null, { changes: { order: { increment: 1 } } }),
    "claim_conflict",
  ],
  [
    "a change of another field",
    { field: "title" },
    "bob",
    update("slide", "s1", null, { changes: { order: { increment: 1 } } }),
    "confirmed",
  ],
  ["deleting beside a field", { field: "notes" }, "bob", remove("slide", "s1"), "claim_conflict"],
  [
    "writing regardless of what moved",
    {},
    "bob",
    { ...title, onStale: "overwrite" as const, readAt: 0 },
    "claim_conflict",
  ],
] as const)("[A11] [A29] %s: %s %s", (_, claim, id, operation, expected) => {
  expect(outcomeOf(write(tenant(held(claim)), [operation], { id }))).toBe(expected);
});
