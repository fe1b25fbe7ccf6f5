import { expect, test } from "vitest";
import { readParticipantName } from "./participant.ts";

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
