import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createRequestLimiter } from "./request-limiter.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const stays = () => {};

test("[B2] so many run at once; the others wait, and enter in the order in which they came", async () => {
  const requests = createRequestLimiter({ most: 2, waiting: 10, waitingMs: 5_000 });
  expect([requests.enter("a"), requests.enter("a"), requests.enter("a"), requests.enter("b")]).toEqual([
    true,
    true,
    false,
    true,
  ]);
  const entered: string[] = [];
  const waits = ["first", "second", "third"].map((name) =>
    requests.wait("a", stays).then((runs) => entered.push(`${name} ${runs}`)),
  );
  requests.leave("a");
  // The place that became free is the first one's, though it does not run yet.
  expect(requests.enter("a")).toBe(false);
  requests.leave("a");
  await vi.advanceTimersByTimeAsync(4_999);
  expect(entered).toEqual(["first true", "second true"]);
  await vi.advanceTimersByTimeAsync(1);
  await Promise.all(waits);
  expect(entered).toEqual(["first true", "second true", "third false"]);
  requests.leave("a");
  expect(requests.enter("a")).toBe(true);
});

test("[B2] so many wait, and one more is sent away at once", async () => {
  const requests = createRequestLimiter({ most: 1, waiting: 2, waitingMs: 5_000 });
  requests.enter("a");
  const waits = [requests.wait("a", stays), requests.wait("a", stays)];
  expect(await requests.wait("a", stays)).toBe(false);
  requests.leave("a");
  expect(await waits[0]).toBe(true);
  const next = requests.wait("a", stays);
  requests.leave("a");
  requests.leave("a");
  expect(await Promise.all([waits[1], next])).toEqual([true, true]);
});

test("[B2] who hangs up while it waits leaves its place to the next", async () => {
  const requests = createRequestLimiter({ most: 1, waiting: 2, waitingMs: 5_000 });
  requests.enter("a");
  let hangUp = stays;
  const gone = requests.wait("a", (left) => {
    hangUp = left;
  });
  const next = requests.wait("a", stays);
  hangUp();
  expect(await gone).toBe(false);
  requests.leave("a");
  expect(await next).toBe(true);
  hangUp();
  requests.leave("a");
  expect(requests.enter("a")).toBe(true);
});

test("[B2] tokens that ask no more are forgotten, those that run are not", () => {
  const requests = createRequestLimiter({ most: 1, waiting: 0, waitingMs: 0 });
  requests.enter("runs");
  for (let i = 0; i < 5_000; i += 1) {
    expect(requests.enter(`t${i}`)).toBe(true);
    requests.leave(`t${i}`);
  }
  expect(requests.enter("runs")).toBe(false);
});
