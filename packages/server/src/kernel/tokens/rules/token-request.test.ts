import type { CapabilityBody, EphemeralKeyBody } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { isRefusal } from "../../refusal.ts";
import { capabilityGrant, ephemeralGrant, type TokenGrant } from "./token-request.ts";

const narrow = { operations: ["slide.*"], syncGroups: ["deck:1"] };
const capability = (body: CapabilityBody) => capabilityGrant(body, "org_1");
const ephemeral = (body: EphemeralKeyBody) => ephemeralGrant(body, "org_1", ["Slide", "deck"]);
const told = (grant: TokenGrant | ReturnType<typeof capability>) =>
  isRefusal(grant) ? `${grant.code} ${grant.param}` : "granted";

test.each([
  ["an agent by default", narrow, "granted"],
  ["a system", { ...narrow, participantKind: "system" }, "granted"],
  ["a person", { ...narrow, participantKind: "user" }, "invalid_participant_kind participantKind"],
  ["no kind", { ...narrow, participantKind: "" }, "invalid_participant_kind participantKind"],
  ["no operations", { syncGroups: ["deck:1"] }, "narrow_scope_required operations"],
  ["empty operations", { ...narrow, operations: [] }, "narrow_scope_required operations"],
  ["no groups", { operations: ["*.*"] }, "narrow_scope_required syncGroups"],
  ["empty groups", { ...narrow, syncGroups: [] }, "narrow_scope_required syncGroups"],
  ["wide on purpose", { wideScope: true }, "granted"],
  ["wide with one part narrow", { wideScope: true, syncGroups: ["deck:1"] }, "granted"],
  ["not wide after all", { wideScope: false }, "narrow_scope_required operations"],
  [
    "every form of operation",
    {
      ...narrow,
      operations: [
        ...["A_1.read", "a.create", "a.update", "a.delete", "a.*"],
        ...["*.read", "*.*", "claim.preempt", "claim.reorder"],
      ],
    },
    "granted",
  ],
  ["a verb that is none", { ...narrow, operations: ["slide.*", "slide.archive"] }, "invalid_value operations[1]"],
  ["every model, one verb", { ...narrow, operations: ["*.update"] }, "invalid_value operations[0]"],
  ["no verb", { ...narrow, operations: ["slide"] }, "invalid_value operations[0]"],
  ["a model that cannot be", { ...narrow, operations: ["sl ide.read"] }, "invalid_value operations[0]"],
  ["its own organization", { ...narrow, syncGroups: ["org:org_1"] }, "granted"],
  ["another organization", { ...narrow, syncGroups: ["deck:1", "org:org_2"] }, "invalid_sync_group syncGroups[1]"],
  ["no group's name", { ...narrow, syncGroups: ["deck"] }, "invalid_sync_group syncGroups[0]"],
  ["a participant", { ...narrow, participantId: "worker-1" }, "granted"],
  ["a participant with a space", { ...narrow, participantId: "worker 1" }, "invalid_value participantId"],
  ["an empty participant", { ...narrow, participantId: "" }, "invalid_value participantId"],
  ["as much meta as may be", { ...narrow, userMeta: { a: "x".repeat(4_096 - 8) } }, "granted"],
  ["more meta than may be", { ...narrow, userMeta: { a: "x".repeat(4_096 - 7) } }, "invalid_value userMeta"],
] as [string, CapabilityBody, string][])("[K1] a capability for %s", (_, body, wanted) => {
  expect(told(capability(body))).toBe(wanted);
});

test("[K1] the defaults of a capability", () => {
  expect(capability({ wideScope: true })).toEqual({
    participantKind: "agent",
    participantId: undefined,
    operations: ["*.*"],
    syncGroups: ["org:org_1"],
    onBehalfOf: [],
    budget: null,
    ttlSeconds: 600,
    label: null,
    userMeta: null,
  });
});

test("[K1] a person's key may do everything with the pushed models, in that person's group, unless it is said", () => {
  expect(ephemeral({ user: { id: "ada" } })).toMatchObject({
    participantKind: "user",
    participantId: "ada",
    operations: ["Slide.*", "deck.*"],
    syncGroups: ["user:ada"],
    ttlSeconds: 900,
  });
  expect(
    ephemeral({ user: { id: "ada" }, syncGroups: ["org:org_1"], operations: ["slide.read"], ttlSeconds: 5 }),
  ).toMatchObject({
    operations: ["slide.read"],
    syncGroups: ["org:org_1"],
    ttlSeconds: 5,
  });
});

test.each([
  ["without a name", { user: { id: "" } }, "invalid_value user.id"],
  ["with a name that no group can have", { user: { id: "a b" } }, "invalid_value user.id"],
  ["that may do nothing", { user: { id: "a" }, operations: [] }, "narrow_scope_required operations"],
  ["in no group", { user: { id: "a" }, syncGroups: [] }, "narrow_scope_required syncGroups"],
  ["of another organization", { user: { id: "a" }, syncGroups: ["org:x"] }, "invalid_sync_group syncGroups[0]"],
])("[K1] a person's key %s", (_, body, wanted) => {
  expect(told(ephemeral(body))).toBe(wanted);
});
