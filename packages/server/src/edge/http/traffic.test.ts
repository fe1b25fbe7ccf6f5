import { EventEmitter } from "node:events";
import { type ServerLimits, serverLimits } from "@holdfast/sdk/protocol";
import { afterEach, expect, test, vi } from "vitest";
import type { TokenPrefix } from "../../kernel/tokens/rules/token.ts";
import { createTraffic } from "./traffic.ts";

afterEach(() => void vi.useRealTimers());

/** The requests of one token. The test ends each of them. */
function open(limits: Partial<ServerLimits> = {}) {
  const traffic = createTraffic({ ...serverLimits, ...limits });
  const arrive = (prefix: TokenPrefix, tokenId = prefix as string, longPoll = false) => {
    const raw = new EventEmitter();
    const headers: Record<string, unknown> = {};
    const whenEnded = (then: () => void) => void raw.once("close", then);
    const told = (more: object) => void Object.assign(headers, more);
    const verdict = traffic({ tokenId, prefix, longPoll, whenEnded, told });
    return { verdict, headers, close: () => raw.emit("close") };
  };
  /** Asks and is answered, one after the other: how many of so many were let in. */
  const letIn = (times: number, prefix: TokenPrefix, tokenId?: string) => {
    let count = 0;
    for (let i = 0; i < times; i += 1) {
      const { verdict, close } = arrive(prefix, tokenId);
      close();
      if (verdict === undefined) count += 1;
    }
    return count;
  };
  return { arrive, letIn };
}

test.each(["rk", "ek"] as const)("[B1] %s_: 200 at once, then 100 a second, for each token", (prefix) => {
  vi.useFakeTimers();
  const { letIn, arrive } = open();
  expect(letIn(250, prefix)).toBe(200);
  expect(letIn(1, prefix, "another")).toBe(1);
  const refused = arrive(prefix);
  expect(refused.verdict).toMatchObject({ code: "rate_limited" });
  expect(refused.headers).toEqual({ "ratelimit-limit": 200, "ratelimit-remaining": 0, "ratelimit-reset": 2 });
  vi.advanceTimersByTime(1_000);
  expect(letIn(250, prefix)).toBe(100);
  vi.advanceTimersByTime(60_000);
  expect(letIn(250, prefix)).toBe(200);
});

test("[B1] a secret key has no rate limit, and its responses have no rate headers", () => {
  const { letIn, arrive } = open();
  expect(letIn(10_000, "sk")).toBe(10_000);
  expect(arrive("sk").headers).toEqual({});
});

test.each<[TokenPrefix, boolean, number]>([
  ["sk", false, 1_024],
  ["rk", false, 32],
  ["ek", false, 32],
  ["sk", true, 2_000],
  ["rk", true, 100],
  ["ek", true, 100],
])("[B2] %s_, long polls %s: %d in flight, one more waits", async (prefix, longPoll, most) => {
  const { arrive } = open({ rateRk: 0, rateEk: 0 });
  const arrived = Array.from({ length: most + 1 }, () => arrive(prefix, "t", longPoll));
  expect(arrived.slice(0, most).every(({ verdict }) => verdict === undefined)).toBe(true);
  const waiting = arrived[most];
  expect(waiting?.verdict).toBeInstanceOf(Promise);
  // The others are counted apart.
  expect(arrive(prefix, "t", !longPoll).verdict).toBeUndefined();
  expect(arrive(prefix, "another", longPoll).verdict).toBeUndefined();
  arrived[0]?.close();
  expect(await waiting?.verdict).toBeUndefined();
});

test("[B2] 1 024 wait, for 5 s; who hangs up leaves the line", async () => {
  expect(serverLimits.waitingPerToken).toBe(1_024);
  expect(serverLimits.waitingMs).toBe(5_000);
  const { arrive } = open({ inFlightSk: 1, waitingMs: 20 });
  const first = arrive("sk");
  const line = Array.from({ length: 1_024 }, () => arrive("sk"));
  expect(await arrive("sk").verdict).toMatchObject({ code: "rate_limited" });
  line[0]?.close();
  first.close();
  expect(await line[0]?.verdict).toMatchObject({ code: "rate_limited" });
  expect(await line[1]?.verdict).toBeUndefined();
  expect(await line[2]?.verdict).toMatchObject({ code: "rate_limited" });
});
