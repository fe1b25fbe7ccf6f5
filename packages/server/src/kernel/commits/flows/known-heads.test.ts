import { expect, test } from "vitest";
import type { LockedHead } from "../db/heads.ts";
import type { CommitOperation, CommitRequest } from "../rules/commit-request.ts";
import type { Job } from "./job.ts";
import { createKnownHeads } from "./known-heads.ts";

const START = Date.parse("2026-01-01T00:00:00.000Z");

function setUp() {
  let time = START;
  const known = createKnownHeads(() => time);
  const after = (ms: number) => {
    time += ms;
  };
  return { known, after };
}

const head = (tenant: number, more: Partial<LockedHead> = {}): LockedHead => ({
  tenant,
  logId: "log_1",
  syncId: 7,
  writer: null,
  otherSyncId: 6,
  schemaVersion: 1,
  trimmedTo: 0,
  now: "2026-01-01T00:00:00.000Z",
  claimChange: 0,
  claims: 0,
  ...more,
});

const create: CommitOperation = { action: "create", model: "slide", id: "a", data: {} };

const job = (tenant: number, operation: CommitOperation = create, more: Partial<CommitRequest> = {}): Job => ({
  commits: [{ principal: { tenant }, operations: [operation], reads: [], ...more } as unknown as CommitRequest],
});

test("[L10] a head is known for a second after it was locked, and its time runs on meanwhile", () => {
  const { known, after } = setUp();
  expect(known.expect([job(1)])).toBeUndefined();
  known.learn([head(1)], "locked");
  expect(known.expect([job(1)])).toEqual([head(1)]);
  after(400);
  expect(known.expect([job(1)])).toEqual([head(1, { now: "2026-01-01T00:00:00.400Z" })]);
  after(599);
  expect(known.expect([job(1)])?.[0]?.now).toBe("2026-01-01T00:00:00.999Z");
  after(1);
  expect(known.expect([job(1)])).toBeUndefined();
});

test("[L10] an expected round continues from the previous one, and does not postpone the next load", () => {
  const { known, after } = setUp();
  known.learn([head(1)], "locked");
  after(600);
  known.learn([head(1, { syncId: 8, now: "2026-01-01T00:00:00.600Z" })], "expected");
  expect(known.expect([job(1)])?.[0]).toMatchObject({ syncId: 8, now: "2026-01-01T00:00:00.600Z" });
  after(400);
  expect(known.expect([job(1)])).toBeUndefined();
});

test("[L3] [L10] time never runs back: not before the newest entry's, and with a clock that was set back nothing is known", () => {
  const { known, after } = setUp();
  known.learn([head(1)], "locked");
  known.learn([head(1, { now: "2026-01-01T00:00:05.000Z" })], "expected");
  after(10);
  expect(known.expect([job(1)])?.[0]?.now).toBe("2026-01-01T00:00:05.000Z");
  after(-20);
  expect(known.expect([job(1)])).toBeUndefined();
});

test("[L10] all tenants of a round have to be known; they come in the order of their numbers", () => {
  const { known } = setUp();
  known.learn([head(2), head(1)], "locked");
  expect(known.expect([job(2), job(1), job(2)])?.map(({ tenant }) => tenant)).toEqual([1, 2]);
  expect(known.expect([job(2), job(3)])).toBeUndefined();
});

test("[L10] after a round that failed its tenants are looked at for a second", () => {
  const { known, after } = setUp();
  known.learn([head(1), head(2)], "locked");
  known.distrust([2]);
  expect(known.expect([job(1)])).toBeDefined();
  expect(known.expect([job(2)])).toBeUndefined();
  after(999);
  known.learn([head(2)], "locked");
  expect(known.expect([job(2)])).toBeUndefined();
  after(1);
  expect(known.expect([job(2)])).toBeDefined();
});

test("[L10] only creates that ask for nothing else", () => {
  const { known } = setUp();
  known.learn([head(1)], "locked");
  const asks: Job[] = [
    job(1, { ...create, action: "update" }),
    job(1, { ...create, action: "delete" }),
    job(1, { ...create, claim: "clm_1" }),
    job(1, create, { reads: [{ group: "deck:1", readAt: 3 }] }),
    { ask: { module: "claims", tenant: 1 } } as unknown as Job,
  ];
  for (const ask of asks) expect(known.expect([ask])).toBeUndefined();
  expect(known.expect([job(1), ...asks])).toBeUndefined();
  expect(known.expect([job(1), job(1, { ...create, readAt: 3 })])).toBeDefined();
});

test("[L10] a head stays known while any round reports the database's time, and for ten minutes", () => {
  const { known, after } = setUp();
  known.learn([head(1)], "locked");
  after(5_000);
  expect(known.expect([job(1)])).toBeUndefined();
  known.learn([head(2, { now: "2026-01-01T00:00:05.100Z" })], "locked");
  expect(known.expect([job(1)])?.[0]?.now).toBe("2026-01-01T00:00:05.100Z");
  after(595_000);
  known.learn([head(2, { now: "2026-01-01T00:10:00.000Z" })], "locked");
  expect(known.expect([job(1)])).toBeUndefined();
});

test("[L3] [L10] a tenant whose entries are ahead of the clock does not move another tenant's time", () => {
  const { known } = setUp();
  known.learn([head(1)], "locked");
  known.learn([head(2, { now: "2026-01-01T01:00:00.000Z" })], "locked");
  expect(known.expect([job(1)])).toBeUndefined();
});

test("[L10] a head that another process moved is not expected any more", () => {
  const { known } = setUp();
  known.learn([head(1)], "locked");
  known.moved(1, 7);
  expect(known.expect([job(1)])).toBeDefined();
  known.moved(1, 8);
  expect(known.expect([job(1)])).toBeUndefined();
});

test("[L10] the known heads are bounded by their memory", () => {
  const known = createKnownHeads(() => START, 600_000);
  for (let tenant = 1; tenant <= 1_001; tenant++) known.learn([head(tenant)], "locked");
  expect(known.expect([job(1)])).toBeUndefined();
  expect(known.expect([job(2), job(1_001)])).toBeDefined();
});
