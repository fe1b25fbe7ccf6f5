import { expect, test } from "vitest";
import { isSecretKey, type Principal, readParticipantName } from "./participant.ts";

test.each([
  ["user:ann", "user:ann"],
  ["agent:a:b", "agent:a:b"],
  ["system:key_1", "system:key_1"],
  ["", undefined],
  ["user", undefined],
  ["user:", undefined],
  [":ann", undefined],
  ["User:ann", undefined],
  ["robot:ann", undefined],
  ["__proto__:ann", undefined],
  ["user:a b", undefined],
  ["user:a\0", undefined],
  ["user:é", "user:é"],
  [`user:${"a".repeat(255)}`, `user:${"a".repeat(255)}`],
  [`user:${"a".repeat(256)}`, undefined],
])("[I10] the participant %j is %j", (text, name) => {
  expect(readParticipantName(text)).toBe(name);
});

test("[I10] a secret key takes part under its own id", () => {
  const principal: Principal = {
    world: 1,
    organization: "org_1",
    livemode: true,
    participantKind: "system",
    participantId: "key_1",
    tokenId: "key_1",
  };
  expect(isSecretKey(principal)).toBe(true);
  expect(isSecretKey({ ...principal, participantId: "worker" })).toBe(false);
  expect(isSecretKey({ ...principal, participantKind: "agent" })).toBe(false);
});
