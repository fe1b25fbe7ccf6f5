import { createClient } from "@holdfast/sdk/node";
import { act, cleanup, renderHook } from "@testing-library/react";
import { type ReactNode, StrictMode } from "react";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../../scripts/testing/until.ts";
import { SyncProvider, useUndo } from "./index.ts";
import {
  boardSchema,
  useConflicts,
  useCount,
  useCountBy,
  useMutation,
  usePending,
  useQuery,
  useQueryState,
  useRecord,
  useSyncStatus,
} from "./testing/board-schema.ts";

// The real client, kept off the network: what the hooks lean on must hold for it, not for the double alone.
const open = () => createClient({ schema: boardSchema, url: "http://127.0.0.1:9", getToken: () => "", paused: true });
let client: ReturnType<typeof open>;
beforeEach(() => {
  client = open();
});
afterEach(async () => {
  cleanup();
  await client.close();
});

const wrapper = ({ children }: { children: ReactNode }) => (
  <StrictMode>
    <SyncProvider client={client}>{children}</SyncProvider>
  </StrictMode>
);

test("[V1] [V2] an edit renders the readers of its record alone", async () => {
  const one = client.models.slide.create({ deckId: "d1", title: "One", order: 1 });
  const two = client.models.slide.create({ deckId: "d1", title: "Two", order: 2 });
  await Promise.all([one.queued, two.queued]);
  const rendered = { one: 0, two: 0, deck: 0 };
  const first = renderHook(() => [++rendered.one, useRecord("slide", one.id)] as const, { wrapper });
  renderHook(() => [++rendered.two, useRecord("slide", two.id)], { wrapper });
  const deck = renderHook(
    () => [++rendered.deck, useQuery("slide", { where: { deckId: "d1" }, orderBy: "order" }, (all) => all.length)],
    { wrapper },
  );
  const before = { ...rendered };
  await act(async () => {
    await client.models.slide.update(one.id, { title: "Renamed" }).queued;
  });
  expect(first.result.current[1]?.title).toBe("Renamed");
  expect(deck.result.current[1]).toBe(2);
  expect(rendered.one).toBeGreaterThan(before.one);
  expect(rendered.two).toBe(before.two);
  expect(rendered.deck).toBe(before.deck);
});

test("[V29] useQueryState keeps its identity until its records or their state change", async () => {
  const { result, rerender } = renderHook(() => useQueryState("slide", { where: { deckId: "d1" } }), { wrapper });
  expect(result.current).toEqual({ rows: [], status: "loading" });
  const before = result.current;
  await act(() => client.models.slide.create({ deckId: "d2", title: "Elsewhere" }).queued);
  rerender();
  expect(result.current).toBe(before);
  await act(() => client.models.slide.create({ deckId: "d1", title: "One" }).queued);
  expect(result.current.rows.map(({ title }) => title)).toEqual(["One"]);
});

test("[V30] useUndo takes back and does again what it was told of, in order", async () => {
  const { result } = renderHook(() => useUndo(), { wrapper });
  const titles = () => client.models.slide.list().map(({ title }) => title);
  expect([result.current.canUndo, result.current.canRedo]).toEqual([false, false]);
  const { record } = result.current;
  act(() => {
    record(client.models.slide.create({ deckId: "d1", title: "One" }, { id: "1" }));
    record(client.models.slide.update("1", { title: "Two" }));
  });
  expect([result.current.canUndo, result.current.canRedo]).toEqual([true, false]);
  act(() => result.current.undo());
  expect([titles(), result.current.canRedo]).toEqual([["One"], true]);
  act(() => result.current.undo());
  expect([titles(), result.current.canUndo]).toEqual([[], false]);
  act(() => result.current.redo());
  act(() => result.current.redo());
  expect([titles(), result.current.canRedo]).toEqual([["Two"], false]);
  act(() => result.current.undo());
  act(() => void record(client.models.slide.update("1", { title: "Three" })));
  expect([titles(), result.current.canRedo]).toEqual([["Three"], false]);
  // What has nothing to take back any more is passed over.
  act(() => void client.models.slide.update("1", { title: "One" }));
  act(() => result.current.undo());
  expect(titles()).toEqual([]);
  expect(result.current.record).toBe(record);
});

test("[V28] useCount and useCountBy count what matches, and render only when a count changes", async () => {
  const deck = { where: { deckId: "d1" } };
  const rendered = { count: 0, by: 0 };
  const count = renderHook(() => [++rendered.count, useCount("slide", { where: { deckId: "d1" } })] as const, {
    wrapper,
  });
  const by = renderHook(() => [++rendered.by, useCountBy("slide", "order", deck)] as const, { wrapper });
  const skipped = renderHook(() => [useCount("slide", "skip"), useCountBy("slide", "order", "skip").size], { wrapper });
  expect([count.result.current[1], by.result.current[1].size, skipped.result.current]).toEqual([0, 0, [0, 0]]);
  await act(async () => {
    await client.models.slide.create({ deckId: "d1", title: "One", order: 1 }, { id: "1" }).queued;
    await client.models.slide.create({ deckId: "d1", title: "Two", order: 1 }, { id: "2" }).queued;
    await client.models.slide.create({ deckId: "d2", title: "Three", order: 1 }, { id: "3" }).queued;
  });
  expect([count.result.current[1], [...by.result.current[1]]]).toEqual([2, [[1, 2]]]);
  expect(skipped.result.current).toEqual([0, 0]);
  const before = { ...rendered };
  await act(async () => {
    await client.models.slide.update("1", { title: "Renamed" }).queued;
    await client.models.slide.update("3", { order: 5 }).queued;
  });
  expect(rendered).toEqual(before);
  await act(async () => {
    await client.models.slide.update("1", { order: 2 }).queued;
  });
  expect([...by.result.current[1]].sort()).toEqual([
    [1, 1],
    [2, 1],
  ]);
  expect(rendered.count).toBe(before.count);
});

test("[V3] [V9] results keep their identity while nothing changes, so that no hook loops", async () => {
  const { result, rerender } = renderHook(
    () => ({
      status: useSyncStatus(),
      conflicts: useConflicts(),
      pending: usePending(),
      slides: useQuery("slide", { where: { deckId: "d1" } }),
    }),
    { wrapper },
  );
  await act(() => client.models.slide.create({ deckId: "d1", title: "One" }).queued);
  const before = result.current;
  rerender();
  expect(result.current.status).toBe(before.status);
  expect(result.current.conflicts).toBe(before.conflicts);
  expect(result.current.pending).toBe(before.pending);
  expect(result.current.slides).toBe(before.slides);
  expect(before.status).toMatchObject({ name: "paused", pending: 1 });
  expect(before.slides).toMatchObject([{ deckId: "d1", title: "One", order: 0 }]);
});

test("[V9] [Q37] a component that reads who leads renders when that changes, and only then", async () => {
  let rendered = 0;
  const { result } = renderHook(
    () => {
      rendered += 1;
      return useSyncStatus(({ leads }) => leads);
    },
    { wrapper },
  );
  expect(result.current).toBe(false);
  act(() => client.resume());
  await act(() => until(() => client.status().leads));
  expect(result.current).toBe(true);
  const before = rendered;
  await act(() => client.models.slide.create({ title: "One" }).queued);
  expect(rendered).toBe(before);
  act(() => client.pause());
  await act(() => until(() => !client.status().leads));
  expect(result.current).toBe(false);
});

test("[V8] the writes work when they are taken apart", async () => {
  const { result } = renderHook(() => useMutation("slide"), { wrapper });
  const { create, update, delete: remove, commit } = result.current;
  const { id } = create({ title: "One" });
  update(id, { title: "Two" });
  expect(client.models.slide.get(id)?.title).toBe("Two");
  remove(id);
  expect(client.models.slide.get(id)).toBeUndefined();
  await act(() => commit([{ action: "create", model: "person", id: "p1", data: { name: "Ada" } }]).queued);
  expect(client.models.person.get("p1")).toEqual({ id: "p1", name: "Ada" });
});

test("[V26] a query with a date of this moment, made anew with each render, does not loop", async () => {
  await client.models.slide.create({ deckId: "d1", title: "One", order: 1 }).queued;
  let renders = 0;
  let now = 1_000;
  const { result, rerender } = renderHook(
    () => {
      renders += 1;
      now += 1;
      const moment = new Date(now) as unknown as string;
      return useQuery("slide", { where: { $createdAt: { lt: moment } } });
    },
    { wrapper },
  );
  expect(renders).toBeLessThan(10);
  const { current } = result;
  renders = 0;
  rerender();
  expect(renders).toBeLessThan(5);
  expect(result.current).toBe(current);
});
