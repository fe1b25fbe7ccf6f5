import type { Welcome } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { frameFault } from "./frame-check.ts";

const welcome: Welcome = {
  frame: "welcome",
  stamp: 7,
  logId: "log_1",
  session: "ses_1",
  participant: "user:ann",
  owner: "acme/live/user/ann",
  viewHash: "0123456789abcdef",
  models: ["Slide"],
  protocol: "holdfast.v1",
  resumeFrom: 7,
  expiresAt: null,
  expiresInMs: null,
  schema: { version: 1, hash: "abc" },
  rowsVersion: 0,
};

test("a frame that fits its schema has no fault", () => {
  expect(frameFault(welcome)).toBeUndefined();
  expect(frameFault({ ...welcome, schema: null })).toBeUndefined();
});

test.each<[unknown, RegExp]>([
  [{ ...welcome, stamp: "7" }, /welcome\/stamp must be integer/],
  [{ frame: "pong", n: 1 }, /must have required property 'stamp'/],
  [{ frame: "resync", reason: "mood" }, /resync\/reason must be equal to constant/],
  [{ ...welcome, color: "red" }, /welcome must NOT have additional properties/],
  [{ ...welcome, schema: { version: 1, hash: "abc", color: "red" } }, /must NOT have additional properties/],
  [{ frame: "goodbye" }, /no frame "goodbye"/],
  [null, /no frame/],
])("the fault of %j is named", (frame, sentence) => {
  expect(frameFault(frame)).toMatch(sentence);
});
