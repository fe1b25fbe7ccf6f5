import { createTestServer } from "@holdfast/sdk/testing";
import { act, cleanup, renderHook } from "@testing-library/react";
import { type ReactNode, StrictMode } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { SyncProvider } from "./index.ts";
import { createInfiniteQuery } from "./infinite.ts";
import {
  type BoardSchema,
  boardSchema,
  useCount,
  useQuery,
  useQueryState,
  useSuspenseQuery,
} from "./testing/board-schema.ts";

const useInfiniteQuery = createInfiniteQuery<BoardSchema>();
afterEach(cleanup);

/** A client with slides of a deck, by their number: s000, s001, … */
async function slides(count: number) {
  const { client: open } = createTestServer(boardSchema);
  const { client } = open();
  await client.ready();
  const { slide } = client.models;
  const idOf = (n: number) => `s${String(n).padStart(3, "0")}`;
  for (let n = 0; n < count; n++) slide.create({ deckId: "d1", title: `Slide ${n}`, order: n * 10 }, { id: idOf(n) });
  const wrapper = ({ children }: { children: ReactNode }) => (
    <StrictMode>
      <SyncProvider client={client}>{children}</SyncProvider>
    </StrictMode>
  );
  return { client, slide, idOf, wrapper };
}
const byOrder = { where: { deckId: "d1" }, orderBy: "order" } as const;
const orders = ({ rows }: { rows: readonly { order: number }[] }) => rows.map(({ order }) => order / 10);

test("[V33] a window grows page by page, and says whether there is more", async () => {
  const { wrapper } = await slides(25);
  const { result } = renderHook(() => useInfiniteQuery("slide", byOrder, { pageSize: 10 }), { wrapper });
  expect(orders(result.current)).toEqual(Array.from({ length: 10 }, (_, n) => n));
  expect(result.current).toMatchObject({ hasNextPage: true, hasPreviousPage: false, status: "complete" });
  act(() => result.current.fetchNextPage());
  expect(result.current.rows).toHaveLength(20);
  expect(result.current.hasNextPage).toBe(true);
  act(() => result.current.fetchNextPage());
  expect(result.current.rows).toHaveLength(25);
  expect(result.current.hasNextPage).toBe(false);
  const { rows } = result.current;
  act(() => {
    result.current.fetchNextPage();
    result.current.fetchPreviousPage();
  });
  expect(result.current.rows).toBe(rows);
});

test("[V33] a window that is extended in both directions at once has both pages", async () => {
  const { idOf, wrapper } = await slides(40);
  const { result } = renderHook(() => useInfiniteQuery("slide", byOrder, { pageSize: 2, at: idOf(20) }), { wrapper });
  act(() => {
    result.current.fetchNextPage();
    result.current.fetchPreviousPage();
    result.current.fetchNextPage();
  });
  expect(orders(result.current)).toEqual([18, 19, 20, 21, 22, 23]);
});

test.each([undefined, "s020"])("[V26] a query with another value in each render does not loop: at %s", async (at) => {
  const { wrapper } = await slides(40);
  let renders = 0;
  const { result, rerender } = renderHook(
    () => {
      renders += 1;
      return useInfiniteQuery("slide", { ...byOrder, where: { order: { lt: 1_000 + renders } } }, { pageSize: 5, at });
    },
    { wrapper },
  );
  expect(renders).toBeLessThan(10);
  expect(orders(result.current)).toEqual(at ? [20, 21, 22, 23, 24] : [0, 1, 2, 3, 4]);
  renders = 0;
  rerender();
  expect(renders).toBeLessThan(5);
});

test("[V34] a window in the middle stays where it is, whatever comes, changes or goes before it", async () => {
  const { slide, idOf, wrapper } = await slides(40);
  const { result } = renderHook(() => useInfiniteQuery("slide", byOrder, { pageSize: 5, at: idOf(20) }), { wrapper });
  expect(orders(result.current)).toEqual([20, 21, 22, 23, 24]);
  expect(result.current).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
  act(() => result.current.fetchPreviousPage());
  act(() => result.current.fetchNextPage());
  expect(orders(result.current)).toEqual(Array.from({ length: 15 }, (_, i) => 15 + i));
  const { rows } = result.current;
  act(() => {
    for (let n = 0; n < 5; n++) slide.create({ deckId: "d1", title: "before", order: 3 + n });
    slide.delete(idOf(2));
    slide.update(idOf(10), { title: "changed" });
  });
  expect(result.current.rows).toBe(rows);
  // The record at which it began moves away; the window does not follow it.
  act(() => void slide.update(idOf(20), { order: 1 }));
  expect(orders(result.current)).toEqual([15, 16, 17, 18, 19, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30]);
  act(() => void slide.delete(idOf(20)));
  expect(orders(result.current)[0]).toBe(15);
});

test("[V34] a window whose record comes later begins there as soon as it is there", async () => {
  const { slide, idOf, wrapper } = await slides(9);
  const { result } = renderHook(() => useInfiniteQuery("slide", byOrder, { pageSize: 3, at: idOf(100) }), { wrapper });
  expect(orders(result.current)).toEqual([0, 1, 2]);
  expect(result.current.hasPreviousPage).toBe(false);
  act(() => void slide.create({ deckId: "d1", title: "there", order: 45 }, { id: idOf(100) }));
  expect(orders(result.current)).toEqual([4.5, 5, 6]);
  expect(result.current.hasPreviousPage).toBe(true);
});

test("[V34] another query or place begins a new window, an equal query does not", async () => {
  const { idOf, wrapper } = await slides(30);
  const { result, rerender } = renderHook(
    ({ order, at }: { order: "asc" | "desc"; at?: string }) =>
      useInfiniteQuery("slide", { ...byOrder, order }, { pageSize: 4, at }),
    { wrapper, initialProps: { order: "asc" } },
  );
  act(() => result.current.fetchNextPage());
  const { rows } = result.current;
  rerender({ order: "asc" });
  expect(result.current.rows).toBe(rows);
  rerender({ order: "desc" });
  expect(orders(result.current)).toEqual([29, 28, 27, 26]);
  rerender({ order: "desc", at: idOf(10) });
  expect(orders(result.current)).toEqual([10, 9, 8, 7]);
  act(() => result.current.fetchPreviousPage());
  expect(orders(result.current)).toEqual([14, 13, 12, 11, 10, 9, 8, 7]);
});

test("[V4] [V33] skip reads nothing", async () => {
  const { wrapper } = await slides(3);
  const { result } = renderHook(() => useInfiniteQuery("slide", "skip", { at: "s001" }), { wrapper });
  expect(result.current).toMatchObject({ rows: [], hasNextPage: false, hasPreviousPage: false });
});

test("[V35] records keep their array until one of them changes; extending makes a list for each doubling only", async () => {
  const { client, slide, idOf, wrapper } = await slides(400);
  const limits = new Set<unknown>();
  const list = client.models.slide.list;
  vi.spyOn(client.models.slide, "list").mockImplementation((query) => {
    limits.add(query?.limit);
    return list(query) as never;
  });
  const { result } = renderHook(() => useInfiniteQuery("slide", byOrder, { pageSize: 10 }), { wrapper });
  const { rows } = result.current;
  act(() => void slide.update(idOf(10), { title: "the next one" }));
  expect(result.current.rows).toBe(rows);
  act(() => void slide.update(idOf(9), { title: "the last one" }));
  expect(result.current.rows).not.toBe(rows);
  expect(result.current.rows[0]).toBe(rows[0]);
  for (let n = 0; n < 30; n++) act(() => result.current.fetchNextPage());
  expect(result.current.rows).toHaveLength(310);
  expect([...limits]).toEqual([11, 22, 44, 88, 176, 352]);
});

test("[V40] an unknown option, an odd page size, and what the hook chooses itself throw", async () => {
  const { wrapper } = await slides(3);
  const untyped = useInfiniteQuery as unknown as (model: string, query?: unknown, options?: unknown) => unknown;
  const quiet = vi.spyOn(console, "error").mockImplementation(() => {});
  const refused = (param: string, query: unknown, options?: unknown, code = "invalid_value") =>
    expect(() => renderHook(() => untyped("slide", query, options), { wrapper }), param).toThrow(
      expect.objectContaining({ name: "SyncError", code, param }),
    );
  refused("pagesize", byOrder, { pagesize: 2 });
  refused("pagesize", "skip", { pagesize: 2 });
  for (const pageSize of [0, -1, 1.5, Number.NaN, "5", null]) refused("pageSize", byOrder, { pageSize });
  refused("limit", { ...byOrder, limit: 3 });
  refused("from", { ...byOrder, from: { order: 0, id: "s000" } });
  refused("before", { ...byOrder, before: { order: 0, id: "s000" } });
  refused("orderby", { orderby: "order" }, undefined, "unknown_field");
  refused("where.order", { where: { order: "1" } });
  quiet.mockRestore();
  renderHook(() => untyped("slide", byOrder, { pageSize: undefined, at: undefined }), { wrapper });
  renderHook(() => untyped("slide", "skip", { at: "s001" }), { wrapper });
});

test("[V4] [R70] a hook whose query can match nothing throws, and skip does not", async () => {
  const { wrapper } = await slides(1);
  const quiet = vi.spyOn(console, "error").mockImplementation(() => {});
  const hooks = { useQuery, useQueryState, useCount, useSuspenseQuery } as unknown as Readonly<
    Record<string, (model: string, query: unknown) => unknown>
  >;
  for (const [name, hook] of Object.entries(hooks)) {
    const run = (query: unknown) => renderHook(() => hook("slide", query), { wrapper });
    expect(() => run({ where: { order: "1" } }), name).toThrow(expect.objectContaining({ param: "where.order" }));
    expect(() => run({ wehre: {} }), name).toThrow(expect.objectContaining({ param: "wehre" }));
    run("skip");
  }
  quiet.mockRestore();
});
