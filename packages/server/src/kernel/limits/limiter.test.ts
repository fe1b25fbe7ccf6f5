import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { createLimiter, type Limiter } from "./limiter.ts";

test("[L15] each tenant has a limit of concurrent work, and waiting tenants take turns", async () => {
  const limiter = createLimiter({ most: 3, mostPerKey: 2 });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string, tenant: number) =>
    void limiter.take(tenant, "token", () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  for (let n = 1; n <= 5; n++) work(`a${n}`, 1);
  work("b1", 2);
  await until(() => expect(begun).toEqual(["a1", "a2", "b1"]));
  work("c1", 3);
  ends[0]?.();
  await until(() => expect(begun.length).toBe(4));
  ends[2]?.();
  await until(() => expect(begun.length).toBe(5));
  expect(begun.slice(3).sort()).toEqual(["a3", "c1"]);
  expect(limiter.waiting).toBe(2);
});

describe("with patience", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

  const patience = { waitMs: 100, longestMs: 500 };

  /** The result of the work. Undefined if no slot was free in time. */
  async function takeInTime<T>(limiter: Limiter, work: () => Promise<T>): Promise<T | undefined> {
    if (!(await limiter.enter(1, "", patience))) return undefined;
    return await work().finally(() => limiter.leave(1));
  }

  test("[G11] so many work at a time, the others in order, however many there are while they are quick", async () => {
    const limiter = createLimiter({ most: 2 });
    let working = 0;
    const started: number[] = [];
    const all = Array.from({ length: 7 }, (_, i) =>
      takeInTime(limiter, async () => {
        started.push(i);
        expect(++working).toBeLessThanOrEqual(2);
        await sleep(40);
        working--;
        return i;
      }),
    );
    await vi.advanceTimersByTimeAsync(1_000);
    // The last one waited 120 ms, but never 100 without a turn that ended.
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(started).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test.each([
    ["no work ends", 300, 1],
    ["it has waited too long in all", 90, 6],
  ])("[G11] one goes without when %s", async (_, ms, done) => {
    const limiter = createLimiter({ most: 1 });
    const all = Array.from({ length: 12 }, () => takeInTime(limiter, () => sleep(ms).then(() => "done")));
    await vi.advanceTimersByTimeAsync(2_000);
    expect((await Promise.all(all)).filter((one) => one === "done")).toHaveLength(done);
  });

  test("[G11] work that fails gives its place on", async () => {
    const limiter = createLimiter({ most: 1 });
    const failing = takeInTime(limiter, async () => {
      await sleep(10);
      throw new Error("no");
    });
    const next = takeInTime(limiter, async () => "done");
    await Promise.all([expect(failing).rejects.toThrow("no"), vi.advanceTimersByTimeAsync(20)]);
    expect(await next).toBe("done");
    expect(await takeInTime(limiter, async () => "again")).toBe("again");
  });

  test("[B2] so many run at once; the others wait, and enter in the order in which they came", async () => {
    const requests = createLimiter<string>({ mostPerKey: 2 });
    expect(requests.tryEnter("a")).toBe(true);
    expect(requests.tryEnter("a")).toBe(true);
    expect(requests.tryEnter("a")).toBe(false);
    expect(requests.tryEnter("b")).toBe(true);
    const entered: string[] = [];
    const waits = ["first", "second", "third"].map((name) =>
      requests.enter("a", "", { waitMs: 5_000 }).then((runs) => entered.push(`${name} ${runs}`)),
    );
    requests.leave("a");
    // The place that became free is the first one's, though it does not run yet.
    expect(requests.tryEnter("a")).toBe(false);
    requests.leave("a");
    await vi.advanceTimersByTimeAsync(4_999);
    expect(entered).toEqual(["first true", "second true"]);
    await vi.advanceTimersByTimeAsync(2);
    await Promise.all(waits);
    expect(entered).toEqual(["first true", "second true", "third false"]);
    requests.leave("a");
    expect(requests.tryEnter("a")).toBe(true);
  });

  test("[B2] so many wait, and one more is sent away at once", async () => {
    const requests = createLimiter<string>({ mostPerKey: 1 });
    const enter = (key: string) => requests.enter(key, "", { waitMs: 5_000, mostWaiting: 2 });
    requests.tryEnter("a");
    const waits = [enter("a"), enter("a")];
    expect(await enter("a")).toBe(false);
    // Others of the same limiter are not touched.
    expect(await enter("b")).toBe(true);
    requests.leave("a");
    await vi.advanceTimersByTimeAsync(0);
    expect(await waits[0]).toBe(true);
    const next = enter("a");
    requests.leave("a");
    await vi.advanceTimersByTimeAsync(0);
    expect(await waits[1]).toBe(true);
    requests.leave("a");
    await vi.advanceTimersByTimeAsync(0);
    expect(await next).toBe(true);
    expect(requests.waiting).toBe(0);
  });

  test("[B2] a waiting request that hangs up leaves its place to the next", async () => {
    const requests = createLimiter<string>({ mostPerKey: 1 });
    requests.tryEnter("a");
    const client = new AbortController();
    const leaving = requests.enter("a", "", { waitMs: 5_000, signal: client.signal });
    const next = requests.enter("a", "", { waitMs: 5_000 });
    client.abort();
    expect(await leaving).toBe(false);
    expect(await requests.enter("a", "", { waitMs: 5_000, signal: client.signal })).toBe(false);
    requests.leave("a");
    await vi.advanceTimersByTimeAsync(0);
    expect(await next).toBe(true);
    requests.leave("a");
    expect(requests.tryEnter("a")).toBe(true);
  });

  test("[B2] a client that hangs up in the tick in which its slot was freed takes it from no other", async () => {
    const requests = createLimiter<string>({ mostPerKey: 1 });
    requests.tryEnter("a");
    const client = new AbortController();
    const leaving = requests.enter("a", "", { waitMs: 5_000, signal: client.signal });
    requests.leave("a");
    client.abort();
    expect(await leaving).toBe(false);
    await vi.advanceTimersByTimeAsync(0);
    expect(requests.tryEnter("a")).toBe(true);
    expect(requests.tryEnter("a")).toBe(false);
  });

  test("[B2] tokens that ask no more are forgotten, those that run are not", () => {
    const requests = createLimiter<string>({ mostPerKey: 1 });
    requests.tryEnter("runs");
    for (let i = 0; i < 5_000; i += 1) {
      expect(requests.tryEnter(`t${i}`)).toBe(true);
      requests.leave(`t${i}`);
    }
    expect(requests.tryEnter("runs")).toBe(false);
  });
});

test("[L15] a slot that a waiting caller can use is not free to a new one; others are", async () => {
  const limiter = createLimiter({ most: 3, mostPerKey: 1 });
  expect(limiter.tryEnter(1)).toBe(true);
  const waiting = limiter.enter(1);
  // Tenant 1 has its share, so the other slots are free to others, although tenant 1 waits.
  expect(limiter.tryEnter(2)).toBe(true);
  limiter.leave(2);
  expect(limiter.tryEnter(2)).toBe(true);
  expect(limiter.tryEnter(3)).toBe(true);
  limiter.leave(1);
  expect(limiter.tryEnter(4)).toBe(false);
  expect(await waiting).toBe(true);
  expect(limiter.tryEnter(4)).toBe(false);
});
