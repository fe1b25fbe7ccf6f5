import fc from "fast-check";
import { expect, test } from "vitest";
import { readFrame } from "./read-frame.ts";

test("[N4] frames of this version are read, with keys that are not known yet", () => {
  const entries = {
    frame: "entries",
    from: 1,
    to: 2,
    entries: [{ syncId: 2, model: "slide", id: "a", more: true }],
    newer: 1,
  };
  expect(readFrame(JSON.stringify(entries))).toEqual(entries);
  expect(readFrame('{"frame":"resync","reason":"trimmed"}')).toEqual({ frame: "resync", reason: "trimmed" });
});

test.each([
  "",
  "null",
  "[]",
  "7",
  "{",
  '{"frame":"brand_new"}',
  '{"frame":"welcome","stamp":"7","logId":"l"}',
  '{"frame":"entries","from":1,"to":2.5,"entries":[]}',
  '{"frame":"entries","from":1,"to":2,"entries":[null]}',
  '{"frame":"entries","from":1,"to":2,"entries":[{"syncId":2}]}',
  '{"frame":"pong"}',
])("[N4] %j is ignored", (text) => {
  expect(readFrame(text)).toBeUndefined();
});

test("[N4] nothing that comes down the line throws", () => {
  fc.assert(fc.property(fc.oneof(fc.json(), fc.string(), fc.anything()), (text) => void readFrame(text)));
});
