import { expect, test } from "vitest";
import type { CommitRequest } from "../rules/commit-request.ts";
import type { Job } from "./job.ts";
import { createLaneChoice } from "./lane-choice.ts";

const job = (tenant: number, { commits = 1, bytes = 100 } = {}): Job => ({
  commits: Array.from({ length: commits }, () => ({ principal: { tenant } }) as unknown as CommitRequest),
  bytes,
});

function setUp() {
  let time = 0;
  const choice = createLaneChoice(() => time);
  const after = (ms: number) => {
    time += ms;
  };
  return { choice, after };
}

test("[L13] a tenant that sends much at once is heavy as a whole, until it has sent nothing like that for 2 s", () => {
  const { choice, after } = setUp();
  expect(choice.laneOf(job(1))).toBe("quick");
  expect(choice.laneOf(job(1, { bytes: 200_000 }))).toBe("heavy");
  expect(choice.laneOf(job(1))).toBe("heavy");
  expect(choice.laneOf(job(2))).toBe("quick");
  after(2_000);
  expect(choice.laneOf(job(1))).toBe("quick");
  expect(choice.laneOf(job(1, { commits: 100 }))).toBe("heavy");
});

test("[L14] a tenant whose head is held stays aside, each time twice as long, and comes back when it is well", () => {
  const { choice, after } = setUp();
  choice.isHeld(1);
  choice.isHeld(1);
  expect(choice.laneOf(job(1))).toBe("held");
  after(10_000);
  // Until its head was free.
  expect(choice.laneOf(job(1))).toBe("held");
  choice.isHeld(1);
  choice.areFree([1, 2]);
  expect(choice.laneOf(job(1))).toBe("held");
  after(2_000);
  expect(choice.laneOf(job(1))).toBe("quick");
  choice.isHeld(1);
  choice.areFree([1]);
  after(3_999);
  expect(choice.laneOf(job(1))).toBe("held");
  after(1);
  expect(choice.laneOf(job(1))).toBe("quick");
  after(8_001);
  expect(choice.laneOf(job(1))).toBe("quick");
  choice.isHeld(1);
  choice.areFree([1]);
  after(1_000);
  expect(choice.laneOf(job(1))).toBe("quick");
});

test("[L14] [L16] a tenant whose rounds are slow goes with the heavy ones", () => {
  const { choice } = setUp();
  choice.isSlow(1);
  expect(choice.laneOf(job(1))).toBe("heavy");
  expect(choice.laneOf(job(2))).toBe("quick");
});
