import { expect, test } from "vitest";
import { dueNow, sendPace, waitAfter, waitForRestart } from "./retry.ts";

test("[Q6] waits double up to half a minute, and half of each is chance", () => {
  let wait: ReturnType<typeof waitAfter> | undefined;
  const delays = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(() => {
    wait = waitAfter(wait, sendPace, 1_000, 1);
    return wait.at - 1_000;
  });
  expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(waitAfter(undefined, sendPace, 0, 0).at).toBe(250);
});

test("[Q6] the client waits at least as long as the server asks", () => {
  expect(waitAfter(undefined, sendPace, 0, 0.5, 7_000).at).toBe(7_000);
  expect(waitAfter({ attempt: 9, at: 0 }, sendPace, 0, 1, 7_000).at).toBe(30_000);
});

test("[N23] clients of a server that restarts return spread over 5 s, and nothing hurries them", () => {
  const returns = [0, 0.25, 0.5, 0.75, 0.999].map((roll) => waitForRestart(undefined, 1_000, roll).at - 1_000);
  expect(returns).toEqual([0, 1_250, 2_500, 3_750, 4_995]);
  expect(dueNow(waitForRestart(undefined, 1_000, 0.5), 1_100)?.at).toBe(3_500);
});
