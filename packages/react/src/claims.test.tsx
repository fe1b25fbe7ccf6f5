import { createTestServer } from "@holdfast/sdk/testing";
import { act, cleanup, renderHook } from "@testing-library/react";
import { type ReactNode, StrictMode } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { until } from "../../../scripts/testing/until.ts";
import { SyncProvider } from "./index.ts";
import { boardSchema, useClaim, useClaims } from "./testing/board-schema.ts";

let setup: Awaited<ReturnType<typeof start>>;

async function start() {
  const own = createTestServer(boardSchema);
  const made = own.client({ actor: "ann" });
  await made.client.ready();
  await made.client.models.slide.create({ title: "One" }, { id: "s1" }).receipt;
  // Loaded when it is first used: here before, so that no test has to wait for it.
  await (await made.client.models.slide.claim("warm")).release();
  made.connection.requests.length = 0;
  return { ...own, ...made };
}
beforeEach(async () => {
  setup = await start();
  // From now on time passes only in `settle` and `later`.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
});
afterEach(async () => {
  vi.useRealTimers();
  cleanup();
  await setup.client.close();
});

const wrapper = ({ children }: { children: ReactNode }) => (
  <StrictMode>
    <SyncProvider client={setup.client}>{children}</SyncProvider>
  </StrictMode>
);
/** Without StrictMode, which renders everything twice. */
const plain = ({ children }: { children: ReactNode }) => <SyncProvider client={setup.client}>{children}</SyncProvider>;
const asked = () => setup.connection.requests.map(({ name }) => name);
const holders = (id = "s1") => setup.server.claims.of("slide", id).claims.map((claim) => claim.actor);
/** Lets all pending promises run, and a few milliseconds pass. */
async function quiet(): Promise<void> {
  let isQuiet = false;
  void setup.settle().then(() => {
    isQuiet = true;
  });
  while (!isQuiet) await vi.advanceTimersByTimeAsync(1);
}
const settle = () =>
  act(async () => {
    await quiet();
    setup.clock.advance(20);
    await quiet();
  });
const later = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

test("[V11] a claim is free, waited for, mine and free again, and says who holds it", async () => {
  const { result } = renderHook(() => useClaim("slide", "s1"), { wrapper });
  expect(result.current).toMatchObject({ status: "unknown", holder: undefined, remainingMs: 0 });
  await settle();
  expect(result.current.status).toBe("free");
  const ben = await act(async () => setup.server.claims.acquire("ben", "slide", "s1").body as { id: string });
  expect(result.current).toMatchObject({ status: "theirs", holder: { actor: "ben" } });
  act(() => result.current.claim());
  expect(result.current).toMatchObject({ status: "waiting", position: undefined });
  await settle();
  expect(result.current).toMatchObject({ status: "waiting", position: 0, holder: { actor: "ben" } });
  await act(async () => {
    setup.server.claims.release("ben", ben.id);
    await quiet();
  });
  expect(result.current).toMatchObject({ status: "mine", fence: 2, holder: { actor: "ann", isMine: true } });
  // It counts from the request that found it queued, 20 ms ago.
  expect(result.current.remainingMs).toBe(53_980);
  act(() => result.current.release());
  await settle();
  expect(result.current).toMatchObject({ status: "free", holder: undefined, fence: undefined });
  expect(holders()).toEqual([]);
});

test("[V12] [V45] with auto it claims while it is there: in StrictMode once, and released a moment after it has gone", async () => {
  const { result, unmount } = renderHook(() => useClaim("slide", "s1", { auto: true }), { wrapper });
  await settle();
  expect(result.current.status).toBe("mine");
  expect(asked()).toEqual(["acquireClaim"]);
  unmount();
  await settle();
  expect(holders()).toEqual(["ann"]);
  await later(150);
  await settle();
  expect(asked()).toEqual(["acquireClaim", "releaseClaim"]);
  expect(holders()).toEqual([]);
});

test("[V12] a component that is remounted within a moment neither releases nor claims twice", async () => {
  const options = { auto: true } as const;
  for (let i = 0; i < 5; i++) {
    const { unmount } = renderHook(() => useClaim("slide", "s1", { ...options }), { wrapper });
    if (i % 2) await settle();
    unmount();
    await later(20);
  }
  const { result } = renderHook(() => useClaim("slide", "s1", options), { wrapper });
  await settle();
  await later(150);
  expect(result.current.status).toBe("mine");
  expect(asked()).toEqual(["acquireClaim"]);
});

test("[V12] [V45] a claim that is granted after its component has unmounted is released", async () => {
  const { result, unmount } = renderHook(() => useClaim("slide", "s1"), { wrapper });
  await settle();
  const { claim } = result.current;
  unmount();
  await later(150);
  claim();
  await settle();
  expect(holders()).toEqual(["ann"]);
  await later(150);
  await settle();
  expect(holders()).toEqual([]);
});

test("[V12] [V45] several components share one claim, and it goes with the last that wants it", async () => {
  const first = renderHook(() => useClaim("slide", "s1", { auto: true }), { wrapper });
  const second = renderHook(() => useClaim("slide", "s1", { auto: true }), { wrapper });
  const reader = renderHook(() => useClaim("slide", "s1"), { wrapper });
  await settle();
  expect([first, second, reader].map((each) => each.result.current.status)).toEqual(["mine", "mine", "mine"]);
  expect(asked()).toEqual(["acquireClaim"]);
  first.unmount();
  await later(150);
  expect(holders()).toEqual(["ann"]);
  second.unmount();
  await later(150);
  await settle();
  expect(holders()).toEqual([]);
  expect(reader.result.current.status).toBe("free");
});

test("[V12] another record is claimed instead when the id changes, and a waiter that goes leaves the line", async () => {
  setup.server.claims.acquire("ben", "slide", "s2");
  let id = "s1";
  const { result, rerender, unmount } = renderHook(() => useClaim("slide", id, { auto: true }), { wrapper });
  await settle();
  expect(holders()).toEqual(["ann"]);
  id = "s2";
  rerender();
  await settle();
  expect(result.current).toMatchObject({ status: "waiting", position: 0 });
  await later(150);
  await settle();
  expect(holders("s1")).toEqual([]);
  unmount();
  await later(150);
  await settle();
  expect(setup.server.claims.of("slide", "s2").queue).toEqual([]);
});

test("[V11] a claim that is lost stays lost, with its reason, until it is claimed again", async () => {
  const { result } = renderHook(() => useClaim("slide", "s1", { auto: true }), { wrapper });
  await settle();
  await act(async () => {
    setup.server.claims.end(setup.server.claims.of("slide", "s1").claims[0]?.id ?? "", "preempted");
    await quiet();
  });
  expect(result.current).toMatchObject({ status: "lost", error: { code: "claim_lost", reason: "preempted" } });
  act(() => result.current.claim());
  await settle();
  expect(result.current).toMatchObject({ status: "mine", error: undefined });
});

test("[V12] a mounted component claims the record again after another window of the same person has released it", async () => {
  const { result } = renderHook(() => useClaim("slide", "s1", { auto: true }), { wrapper });
  await settle();
  await act(async () => {
    setup.server.claims.releaseRecord("ann", "slide", "s1");
    await quiet();
  });
  await settle();
  expect(result.current).toMatchObject({ status: "mine", fence: 2 });
});

test("[V11] without a connection no record counts as free, and a refusal is shown", async () => {
  const { result } = renderHook(() => useClaim("slide", "s1", { queue: false, ttl: "soon" }), { wrapper });
  await settle();
  act(() => result.current.claim());
  await settle();
  expect(result.current).toMatchObject({ status: "free", error: { code: "invalid_ttl" } });
  await act(async () => setup.signals.network(false));
  expect(result.current.status).toBe("unknown");
});

test('[V4] "skip" claims and watches nothing', async () => {
  const { result } = renderHook(() => useClaim("slide", "skip", { auto: true }), { wrapper });
  act(() => result.current.claim());
  await settle();
  expect(asked()).toEqual([]);
  expect(setup.connection.frames).toEqual([]);
});

test("[V1] [V11] useClaim renders when its claim changes, and each second only when asked to", async () => {
  let renders = 0;
  renderHook(
    () => {
      renders += 1;
      return useClaim("slide", "s1", { auto: true });
    },
    { wrapper },
  );
  await settle();
  const before = renders;
  await act(async () => {
    await setup.client.models.slide.update("s1", { title: "Elsewhere" }).receipt;
  });
  await later(1_100);
  expect(renders).toBe(before);
  let ticks = 0;
  renderHook(
    () => {
      ticks += 1;
      return useClaim("slide", "s1", { auto: true, tick: true });
    },
    { wrapper },
  );
  await settle();
  const start = ticks;
  await later(1_100);
  expect(ticks).toBeGreaterThan(start);
});

test("[V13] useClaims answers for a list, and keeps what it answered while nothing changes", async () => {
  let renders = 0;
  const { result, rerender } = renderHook(
    () => {
      renders += 1;
      return useClaims("slide", ["s1", "s2"]);
    },
    { wrapper },
  );
  await settle();
  await later(30);
  expect(setup.connection.frames.at(-1)).toEqual({ frame: "watch", model: "slide", ids: ["s1", "s2"] });
  const before = result.current;
  expect(before).toMatchObject({ s1: { state: "known", holders: [] }, s2: { state: "known" } });
  rerender();
  expect(result.current).toBe(before);
  const quiet = renders;
  await act(async () => void setup.server.claims.acquire("ben", "slide", "s3"));
  expect(renders).toBe(quiet);
  await act(async () => void setup.server.claims.acquire("ben", "slide", "s2"));
  await later(30);
  expect(result.current.s2?.holders).toMatchObject([{ actor: "ben" }]);
  expect(result.current.s1).toBe(before.s1);
});

test("[V27] claims of many records that come one by one render once, and a selection only when it changes", async () => {
  const ids = Array.from({ length: 45 }, (_, i) => `s${i}`);
  let [all, count] = [0, 0];
  const every = renderHook(() => [++all, useClaims("slide", ids)] as const, { wrapper: plain });
  const held = renderHook(
    () => [++count, useClaims("slide", ids, (claims) => ids.filter((id) => claims[id]?.holders[0]).length)] as const,
    { wrapper: plain },
  );
  await settle();
  await later(30);
  expect(every.result.current[1].s44).toMatchObject({ state: "known" });
  // The first, in which nothing was known, and the one with all of them.
  expect(all).toBe(2);
  expect(count).toBe(1);
  // One by one, as a socket brings them; `act` would render them at once.
  const environment = globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean };
  environment.IS_REACT_ACT_ENVIRONMENT = false;
  for (const id of ids.slice(0, 20)) {
    setup.server.claims.acquire("ben", "slide", id);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(all).toBe(2);
  expect(count).toBe(1);
  await vi.advanceTimersByTimeAsync(16);
  await until(() => expect(held.result.current[1]).toBe(20));
  environment.IS_REACT_ACT_ENVIRONMENT = true;
  expect(all).toBe(3);
  expect(count).toBe(2);
});

test("[V27] a list that changes by a click renders at most twice as often with its claims as without", async () => {
  const ids = Array.from({ length: 45 }, (_, i) => `s${i}`);
  await act(async () => void setup.server.claims.acquire("ben", "slide", "s3"));
  const counts = { without: 0, with: 0 };
  const without = renderHook(({ shown }) => [++counts.without, shown], {
    initialProps: { shown: ids },
    wrapper: plain,
  });
  const withClaims = renderHook(({ shown }) => [++counts.with, useClaims("slide", shown)] as const, {
    initialProps: { shown: ids },
    wrapper: plain,
  });
  await settle();
  await later(30);
  const before = withClaims.result.current[1];
  Object.assign(counts, { without: 0, with: 0 });
  const next = [...ids.slice(1), "s99"];
  without.rerender({ shown: next });
  withClaims.rerender({ shown: next });
  // What was known stays so meanwhile.
  expect(withClaims.result.current[1].s3).toBe(before.s3);
  for (let i = 0; i < 3; i++) {
    await settle();
    await later(30);
  }
  expect(withClaims.result.current[1].s99).toMatchObject({ state: "known" });
  expect(withClaims.result.current[1].s3?.holders).toMatchObject([{ actor: "ben" }]);
  expect(counts.with).toBeLessThanOrEqual(2 * counts.without);
});
