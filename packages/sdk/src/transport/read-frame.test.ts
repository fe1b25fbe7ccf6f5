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
  const claim = { id: "c1", status: "brand_new", target: { resource: "slide", id: "a" } };
  const claims = { frame: "claims", model: "slide", id: "a", claims: [claim], queue: [] };
  expect(readFrame(JSON.stringify({ frame: "claim", claim }))).toEqual({ frame: "claim", claim });
  expect(readFrame(JSON.stringify(claims))).toEqual(claims);
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
  '{"frame":"welcome","stamp":7,"logId":"l"}',
  '{"frame":"entries","from":1,"to":2.5,"entries":[]}',
  '{"frame":"entries","from":1,"to":2,"entries":[null]}',
  '{"frame":"entries","from":1,"to":2,"entries":[{"syncId":2}]}',
  '{"frame":"pong"}',
  '{"frame":"schema","version":1,"hash":"x"}',
  '{"frame":"claim","claim":{"id":"c1","status":"active"}}',
  '{"frame":"claims","model":"slide","id":"a","claims":[null],"queue":[]}',
  '{"frame":"claims","model":"slide","id":"a","claims":[]}',
  '{"frame":"presence","room":"deck:d1","joined":[{"participant":"user:ann"}],"updated":[],"left":[]}',
])("[N4] %j is ignored", (text) => {
  expect(readFrame(text)).toBeUndefined();
});

test("[N4] nothing that comes down the line throws", () => {
  fc.assert(fc.property(fc.oneof(fc.json(), fc.string(), fc.anything()), (text) => void readFrame(text)));
});

test("[N2] clients of one process that hear the same frame share what was parsed", () => {
  const text = JSON.stringify({ frame: "entries", from: 0, to: 1, entries: [] });
  const frame = readFrame(text);
  expect(frame).toMatchObject({ to: 1 });
  expect(readFrame(`${text}`)).toBe(frame);
  expect(readFrame(text.replace('"to":1', '"to":2'))).toMatchObject({ to: 2 });
  expect(readFrame("no frame")).toBe(undefined);
});

test("[N4] clients of a process that read the same parse it once, also if one of them gets an answer in between", () => {
  const text = '{"frame":"entries","from":1,"to":2,"entries":[]}';
  const frame = readFrame(text);
  readFrame('{"frame":"answer","n":1,"status":200,"body":{}}');
  expect(readFrame(text)).toBe(frame);
});
