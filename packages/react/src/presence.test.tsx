import { createTestServer } from "@holdfast/sdk/testing";
import { act, cleanup, renderHook } from "@testing-library/react";
import { type ReactNode, StrictMode } from "react";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SyncProvider } from "./index.ts";
import { boardSchema, useMyPresence, useOthers, usePresenceStatus, useSelf } from "./testing/board-schema.ts";

let setup: Awaited<ReturnType<typeof start>>;

async function start() {
  const own = createTestServer(boardSchema);
  const ann = own.client({ actor: "ann" });
  const ben = own.client({ actor: "ben" });
  await ann.client.ready();
  await ben.client.ready();
  // Loaded when it is first used: here before, so that no test has to wait for it.
  const warm = ben.client.presence("deck:warm");
  await (await ann.client.models.slide.claim("warm")).release();
  warm.set({});
  await own.settle();
  return { ...own, ann, ben };
}
beforeEach(async () => {
  setup = await start();
});
afterEach(async () => {
  cleanup();
  await setup.ann.client.close();
  await setup.ben.client.close();
});

const wrapper = ({ children }: { children: ReactNode }) => (
  <StrictMode>
    <SyncProvider client={setup.ann.client}>{children}</SyncProvider>
  </StrictMode>
);
const tick = (ms = 50) =>
  act(async () => {
    await setup.settle();
    setup.clock.advance(ms);
    await setup.settle();
  });
const inside = () => setup.server.rooms.peers("deck:d1").map((peer) => peer.participantId);

test("[V14] the others see a participant's state, and so does the participant", async () => {
  const theirs = setup.ben.client.presence("deck:d1");
  theirs.set({ name: "Ben" });
  const { result } = renderHook(
    () => ({
      me: useMyPresence("deck:d1", { name: "Ann" }),
      others: useOthers("deck:d1", (all) => all.map((peer) => peer.state.name)),
      self: useSelf("deck:d1"),
      status: usePresenceStatus("deck:d1"),
    }),
    { wrapper },
  );
  await tick();
  await tick();
  expect(result.current).toMatchObject({ others: ["Ben"], self: { participantId: "ann" }, status: "live" });
  expect(result.current.me[0]).toEqual({ name: "Ann" });
  expect(theirs.others()).toMatchObject([{ state: { name: "Ann" } }]);
  const [, set] = result.current.me;
  act(() => set((before) => ({ ...before, cursor: 3 })));
  await tick();
  expect(theirs.others()).toMatchObject([{ state: { name: "Ann", cursor: 3 } }]);
  expect(result.current.me).toEqual([{ name: "Ann", cursor: 3 }, set]);
});

test("[V14] a component renders only when what it selects of the others changes", async () => {
  let renders = 0;
  const theirs = setup.ben.client.presence("deck:d1");
  theirs.set({ name: "Ben", x: 0 });
  renderHook(
    () => {
      renders += 1;
      return useOthers(
        "deck:d1",
        (all) => all.map((peer) => ({ name: peer.state.name })),
        (a, b) => a.length === b.length,
      );
    },
    { wrapper },
  );
  await tick();
  await tick();
  const before = renders;
  expect(before).toBeGreaterThan(2);
  for (let x = 1; x < 5; x++) {
    theirs.set({ name: "Ben", x });
    await tick();
  }
  expect(renders).toBe(before);
});

test("[V14] a room is entered once and left a moment after the last component, and a late update does not enter it again", async () => {
  const first = renderHook(() => useMyPresence("deck:d1", { here: true }), { wrapper });
  const second = renderHook(() => useOthers("deck:d1"), { wrapper });
  await tick();
  await tick();
  expect(inside()).toEqual(["ann"]);
  const said = setup.ann.connection.frames.filter((frame) => frame.frame === "presence");
  expect(said.every((frame) => frame.state !== null)).toBe(true);
  const [, set] = first.result.current;
  first.unmount();
  await tick(1_000);
  expect(inside()).toEqual(["ann"]);
  second.unmount();
  await tick(250);
  expect(inside()).toEqual([]);
  set({ late: true });
  await tick(1_000);
  expect(inside()).toEqual([]);
});
