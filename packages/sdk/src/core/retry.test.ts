import { expect, test } from "vitest";
import { sendPace, waitAfter } from "./retry.ts";

test("[Q6] waits double up to half a minute, and half of each is chance", () => {
  let wait: ReturnType<typeof waitAfter> | undefined;
  const delays = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(() => {
    wait = waitAfter(wait, sendPace, 1_000, 1);
    return wait.at - 1_000;
  });
  expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(waitAfter(undefined, sendPace, 0, 0).at).toBe(250);
});

test("[Q6] what the server asks for is the least that is waited", () => {
  expect(waitAfter(undefined, sendPace, 0, 0.5, 7_000).at).toBe(7_000);
  expect(waitAfter({ attempt: 9, at: 0 }, sendPace, 0, 1, 7_000).at).toBe(30_000);
});
