import { expect, test } from "vitest";
import type { CommitRequest } from "./commit-request.ts";
import { judgedAgain, judgementTime } from "./judgement-time.ts";

const commit = (clientTxId: string) => ({ clientTxId }) as CommitRequest;
const [far, near] = [commit("far"), commit("near")];

test("[M36] [M50] a commit that misses something each time for a second is ended, others are not", () => {
  let time = judgementTime(0);
  for (let n = 1; n < 12; n += 1) time = judgedAgain(time, n === 11 ? [far, near] : [far], n * 99);
  expect(time.ended).toEqual([far]);
});

test("[M36] [M50] a commit is not ended because the database is slow", () => {
  let time = judgementTime(0);
  for (let n = 1; n < 10; n += 1) time = judgedAgain(time, [far], n * 4_000);
  expect(time.ended).toEqual([]);
});

test("[M36] after one commit was ended, the next has as much time", () => {
  let time = judgementTime(0);
  for (let n = 1; n < 20; n += 1) time = judgedAgain(time, n > 10 ? [near] : [far], n * 100);
  expect(time.ended).toEqual([far]);
  time = judgedAgain(time, [near], 2_000);
  expect(time.ended).toEqual([far, near]);
});
