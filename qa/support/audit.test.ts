import type { CommitReceipt } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { audit, type Evidence } from "./audit.ts";

const row = (syncId: number, title: string) => ({ model: "slide", id: `s${syncId}`, syncId, data: { title } });
const line = (syncId: number, name: string) => ({ ...row(syncId, name), verb: "created", name });
const call = (name: string, syncId: number, asked: number) => ({
  name,
  operations: [{ model: "slide", id: `s${syncId}` }],
  asked,
  answered: asked + 1,
  receipt: { lastSyncId: syncId } as CommitReceipt,
});

/** Three writes, one after the other, and one of unknown outcome that happened. */
const sound: Evidence = {
  head: 4,
  log: [line(1, "w1"), line(2, "w2"), line(3, "w3"), line(4, "w4")],
  rows: [row(1, "w1"), row(2, "w2"), row(3, "w3"), row(4, "w4")],
  calls: [
    call("w1", 1, 10),
    call("w2", 2, 20),
    call("w3", 3, 30),
    { name: "w4", operations: [{ model: "slide", id: "s4" }], asked: 40, abandoned: true },
  ],
  followers: [{ positions: [1, 2, 3, 4], faults: [] }],
};

test("[L1] [DS19] a correct history produces no violations", () => {
  expect(audit(sound)).toEqual({ violations: [], entries: 4, lost: 0, duplicated: 0, abandonedFound: 1, followers: 1 });
});

test.each<[string, Partial<Evidence>, RegExp]>([
  [
    "an acknowledged write that is gone",
    { log: sound.log.filter(({ name }) => name !== "w2"), rows: sound.rows.filter(({ id }) => id !== "s2") },
    /w2 was acknowledged at 2, and 0 of its 1/,
  ],
  [
    "the last entry gone",
    { log: sound.log.slice(0, 3), rows: sound.rows.slice(0, 3) },
    /the log ends at 3, its head says 4/,
  ],
  [
    "a hole",
    { log: sound.log.filter(({ syncId }) => syncId !== 4).concat(line(5, "w4")), head: 5, followers: [] },
    /the log has a hole at 4/,
  ],
  [
    "a write that was done twice",
    { log: [...sound.log, line(5, "w3")], rows: [...sound.rows, row(5, "w3")], head: 5 },
    /w3 is in the log 2 times/,
  ],
  [
    "an unknown one that was done twice",
    { log: [...sound.log, line(5, "w4")], rows: [...sound.rows, row(5, "w4")], head: 5 },
    /w4 is in the log 2 times/,
  ],
  ["an entry of no request", { calls: sound.calls.slice(1) }, /belong to no request/],
  [
    "a receipt that names another place",
    { calls: [call("w1", 3, 10), ...sound.calls.slice(1)] },
    /acknowledged at 3 and stands at 1/,
  ],
  [
    "an order that time contradicts",
    { calls: [{ ...call("w1", 1, 50) }, ...sound.calls.slice(1)] },
    /w1 stands at 1, and 3 was answered before/,
  ],
  ["a row that the log does not tell", { rows: [...sound.rows.slice(1), row(1, "other")] }, /slide\/s1 is at 1/],
  ["a row that is missing", { rows: sound.rows.slice(1) }, /slide\/s1 is in the log and has no row/],
  ["a row too many", { rows: [...sound.rows, row(9, "x")] }, /slide\/s9 is at 9/],
  ["a follower that missed one", { followers: [{ positions: [1, 2, 4], faults: [] }] }, /follower 0 heard 3 entries/],
  [
    "a follower that heard one twice",
    { followers: [{ positions: [1, 2, 2, 3, 4], faults: [] }] },
    /follower 0 heard 5/,
  ],
  ["a frame that left a gap", { followers: [{ positions: [1, 2, 3, 4], faults: ["(2, 4] came at 1"] }] }, /came at 1/],
  [
    "an unexpected refusal",
    { calls: [{ ...sound.calls[0]!, refused: "500" }, ...sound.calls.slice(1)] },
    /was refused: 500/,
  ],
])("[L1] the auditor notices %s", (_, change, violation) => {
  expect(audit({ ...sound, ...change }).violations).toContainEqual(expect.stringMatching(violation));
});
