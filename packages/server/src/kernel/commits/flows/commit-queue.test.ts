import { expect, test, vi } from "vitest";
import type { CommitRequest } from "../rules/commit-request.ts";
import { createCommitQueue, mayGoBehind, type Waiting } from "./commit-queue.ts";
import { tenantOf } from "./job.ts";

test.each([
  { what: "one alone waits for company", waiting: 1, present: 1, may: false },
  { what: "before anybody was answered, two are company", waiting: 2, present: 0, may: true },
  { what: "half of those who are here may go", waiting: 32, present: 64, may: true },
  { what: "fewer would make a third round", waiting: 31, present: 64, may: false },
  { what: "of very many, as many as a round takes", waiting: 128, present: 1_000, may: true },
  { what: "of very many, no fewer than a round takes", waiting: 127, present: 1_000, may: false },
])("a round goes out behind another: $what", ({ waiting, present, may }) => {
  expect(mayGoBehind(waiting, present, 128)).toBe(may);
});

test("a lane of one commit a round sends none behind another", () => {
  expect(mayGoBehind(64, 64, 1)).toBe(false);
});

const bounds = { maxCommits: 4, maxBytes: 1_000, maxNames: 10 };

function lineOf(jobs: readonly [tenant: number, bytes: number][], entry = createCommitQueue(bounds)) {
  for (const [tenant, bytes] of jobs) {
    const principal = { tenant, tokenId: `t${tenant}` };
    const commits = [{ principal, operations: [{}], reads: [] } as unknown as CommitRequest];
    entry.join({ job: { commits, bytes }, resolve: () => {}, since: performance.now(), attempts: 1 });
  }
  return entry;
}

const tenantsOf = (taken: readonly Waiting[]) => taken.map(({ job }) => tenantOf(job));

test("[L13] a round has so many bytes at most; what is larger is alone", () => {
  const entry = lineOf([
    [1, 600],
    [2, 600],
    [3, 300],
    [1, 5_000],
  ]);
  expect(tenantsOf(entry.take())).toEqual([1, 3]);
  expect(tenantsOf(entry.take())).toEqual([2]);
  expect(tenantsOf(entry.take())).toEqual([1]);
});

test("[L14] a tenant whose head is held rests twice as long each time, and does not return to the front", () => {
  vi.useFakeTimers();
  try {
    const entry = lineOf([[1, 10]]);
    entry.letRest(entry.take(), false);
    expect(entry.take()).toEqual([]);
    vi.advanceTimersByTime(300);
    entry.letRest(entry.take(), false);
    vi.advanceTimersByTime(300);
    lineOf([[2, 10]], entry);
    expect(tenantsOf(entry.take())).toEqual([2]);
    vi.advanceTimersByTime(300);
    expect(tenantsOf(entry.take())).toEqual([1]);
  } finally {
    vi.useRealTimers();
  }
});
