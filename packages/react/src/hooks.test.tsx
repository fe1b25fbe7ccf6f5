import { act, cleanup, render, renderHook } from "@testing-library/react";
import { type ReactNode, StrictMode, useLayoutEffect } from "react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { SyncProvider, useRecord as useAnyRecord } from "./index.ts";
import {
  type BoardSchema,
  useAttention,
  useClient,
  useConflicts,
  useMutation,
  usePending,
  useQuery,
  useRecord,
  useSyncStatus,
} from "./testing/board-schema.ts";
import { createMemoryClient, type MemoryClient } from "./testing/memory-client.ts";

let memory: MemoryClient<BoardSchema>;
beforeEach(() => {
  memory = createMemoryClient<BoardSchema>(["slide", "person"]);
  memory.put("slide", { id: "s1", deckId: "d1", title: "One", order: 1 });
  memory.put("slide", { id: "s2", deckId: "d1", title: "Two", order: 2 });
  memory.put("slide", { id: "s3", deckId: "d2", title: "Elsewhere", order: 1 });
});
afterEach(cleanup);

const wrapper = ({ children }: { children: ReactNode }) => (
  <SyncProvider client={memory.client}>{children}</SyncProvider>
);

/** Renders a hook and counts how often its component rendered. */
function counted<T>(hook: () => T) {
  let renders = 0;
  const rendered = renderHook(
    () => {
      renders += 1;
      return hook();
    },
    { wrapper },
  );
  return { ...rendered, renders: () => renders };
}

const Title = () => <p>{useRecord("slide", "s1", (slide) => slide.title)}</p>;

/** Changes a record after the first render and before any hook has subscribed. */
function Meddler({ title }: { title: string }) {
  useLayoutEffect(() => memory.put("slide", { id: "s1", deckId: "d1", title, order: 1 }), [title]);
  return null;
}

function Pair({ saw }: { saw: (pair: string) => void }) {
  const byId = useRecord("slide", "s1", (slide) => slide.title);
  const inList = useQuery("slide", {}, (rows) => rows[0]?.title);
  saw(`${byId}/${inList}`);
  return null;
}

const rendered = new Map<string, number>();
const count = (name: string) => rendered.set(name, (rendered.get(name) ?? 0) + 1);

function Card({ id }: { id: string }) {
  count(id);
  return <p>{useRecord("slide", id, (slide) => slide.title)}</p>;
}

function Board() {
  count("board");
  const ids = useQuery("slide", { where: { deckId: "big" } }, (slides) => slides.map((slide) => slide.id));
  const waiting = useSyncStatus(({ conflicts, attention }) => ({ conflicts, attention }));
  return (
    <>
      {waiting.conflicts}
      {ids.map((id) => (
        <Card key={id} id={id} />
      ))}
    </>
  );
}

describe("reading", () => {
  test("[V1] [V3] of 200 cards, the one whose slide changes is rendered once, and the board not at all", () => {
    for (let at = 0; at < 200; at += 1) memory.put("slide", { id: `c${at}`, deckId: "big", title: `${at}`, order: at });
    rendered.clear();
    render(<Board />, { wrapper });
    expect(rendered.size).toBe(201);
    rendered.clear();
    act(() => memory.put("slide", { id: "c7", deckId: "big", title: "Changed", order: 7 }));
    expect([...rendered]).toEqual([["c7", 1]]);
    rendered.clear();
    act(() => memory.set({ status: { ...memory.client.status(), pending: 3, syncId: 9 } }));
    act(() => memory.put("person", { id: "p1", name: "Ada" }));
    expect([...rendered]).toEqual([]);
  });

  test("[V1] a change of one record renders only the components that read it", () => {
    const first = counted(() => useRecord("slide", "s1"));
    const second = counted(() => useRecord("slide", "s2"));
    act(() => memory.put("slide", { id: "s1", deckId: "d1", title: "Renamed", order: 1 }));
    expect(first.result.current?.title).toBe("Renamed");
    expect(first.renders()).toBe(2);
    expect(second.renders()).toBe(1);
  });

  test("[V1] a change of another deck's slide does not render a list that leaves it out", () => {
    const deck = counted(() => useQuery("slide", { where: { deckId: "d1" } }));
    const before = deck.result.current;
    act(() => memory.put("slide", { id: "s3", deckId: "d2", title: "Changed", order: 1 }));
    expect(deck.renders()).toBe(1);
    expect(deck.result.current).toBe(before);
    act(() => memory.put("slide", { id: "s4", deckId: "d1", title: "Three", order: 3 }));
    expect(deck.result.current.map((slide) => slide.id)).toEqual(["s1", "s2", "s4"]);
    expect(deck.renders()).toBe(2);
  });

  test("[V2] an equal inline query is computed once, and a different one is computed anew", () => {
    let deckId = "d1";
    const deck = counted(() => useQuery("slide", { where: { deckId }, orderBy: "order" }));
    const { current } = deck.result;
    const askedOnce = memory.listed();
    deck.rerender();
    deck.rerender();
    expect(memory.listed()).toBe(askedOnce);
    expect(deck.result.current).toBe(current);
    deckId = "d2";
    deck.rerender();
    expect(deck.result.current.map((slide) => slide.id)).toEqual(["s3"]);
  });

  test("[V3] an inline selector that makes a new object each time neither loops nor renders for nothing", () => {
    const titles = counted(() =>
      useQuery("slide", { where: { deckId: "d1" } }, (rows) => rows.map((row) => row.title)),
    );
    const before = titles.result.current;
    act(() => memory.put("slide", { id: "s2", deckId: "d1", title: "Two", order: 9 }));
    expect(titles.renders()).toBe(1);
    titles.rerender();
    expect(titles.result.current).toBe(before);
    act(() => memory.put("slide", { id: "s2", deckId: "d1", title: "Second", order: 9 }));
    expect(titles.result.current).toEqual(["One", "Second"]);
  });

  test("[V3] an isEqual of one's own decides what counts as a change", () => {
    const rough = counted(() =>
      useRecord(
        "slide",
        "s1",
        (slide) => slide.order,
        (a, b) => Math.floor(a ?? 0) === Math.floor(b ?? 0),
      ),
    );
    act(() => memory.put("slide", { id: "s1", deckId: "d1", title: "One", order: 1.5 }));
    expect(rough.result.current).toBe(1);
    expect(rough.renders()).toBe(1);
    act(() => memory.put("slide", { id: "s1", deckId: "d1", title: "One", order: 2.5 }));
    expect(rough.result.current).toBe(2.5);
  });

  test("[V3] a record's selector is not called while there is no record", () => {
    const select = vi.fn((slide: { title: string }) => slide.title);
    const gone = counted(() => useRecord("slide", "nowhere", select));
    expect(gone.result.current).toBeUndefined();
    expect(select).not.toHaveBeenCalled();
  });

  test("[V4] skip reads nothing, and stops skipping when given something to read", () => {
    let id = "skip";
    const record = counted(() => useRecord("slide", id));
    const none = counted(() => useQuery("slide", "skip"));
    expect(record.result.current).toBeUndefined();
    expect(none.result.current).toEqual([]);
    expect(memory.listed()).toBe(0);
    id = "s1";
    record.rerender();
    expect(record.result.current?.title).toBe("One");
  });

  test("[V5] a change between the first render and the subscription is shown", () => {
    const { container } = render(
      <>
        <Title />
        <Meddler title="Quick" />
      </>,
      { wrapper },
    );
    expect(container.textContent).toBe("Quick");
  });

  test("[V5] two components that read one record never show two versions of it", () => {
    const seen: string[] = [];
    render(<Pair saw={(pair) => seen.push(pair)} />, { wrapper });
    act(() => memory.put("slide", { id: "s1", deckId: "d1", title: "New", order: 1 }));
    expect(seen).toEqual(["One/One", "New/New"]);
  });
});

describe("the provider", () => {
  test("[V6] under StrictMode everything is shown, and nothing listens after unmounting; the client stays open", () => {
    const { container, unmount } = render(
      <StrictMode>
        <Title />
      </StrictMode>,
      { wrapper },
    );
    act(() => memory.put("slide", { id: "s1", deckId: "d1", title: "Strict", order: 1 }));
    expect(container.textContent).toBe("Strict");
    expect(memory.listeners()).toBe(1);
    unmount();
    expect(memory.listeners()).toBe(0);
    expect(memory.closed()).toBe(false);
  });

  test("[V6] another client given to the provider is read instead", () => {
    const other = createMemoryClient<BoardSchema>(["slide"]);
    other.put("slide", { id: "s1", deckId: "d1", title: "Other", order: 1 });
    const tree = (client: typeof memory.client) => (
      <SyncProvider client={client}>
        <Title />
      </SyncProvider>
    );
    const { container, rerender } = render(tree(memory.client));
    rerender(tree(other.client));
    expect(container.textContent).toBe("Other");
    expect(memory.listeners()).toBe(0);
  });

  test("[V7] a hook outside the provider, or for an unknown model, throws an error with a sentence", () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    expect(() => renderHook(() => useClient())).toThrow("outside of <SyncProvider");
    expect(() => renderHook(() => useAnyRecord("slyde", "s1"), { wrapper })).toThrow('no model "slyde"');
  });
});

describe("writing", () => {
  test("[V8] the writes keep their identity and reach the client with all their arguments", () => {
    const hook = counted(() => useMutation("slide"));
    const before = hook.result.current;
    hook.rerender();
    expect(hook.result.current).toBe(before);
    before.create({ title: "New" }, { id: "s9" });
    before.update("s1", { title: "T" }, { onStale: "reject" });
    before.delete("s1");
    before.archive("s2");
    before.unarchive("s2");
    before.commit([{ action: "delete", model: "slide", id: "s2" }]);
    expect(memory.writes).toEqual([
      ["create", "slide", { title: "New" }, { id: "s9" }],
      ["update", "slide", "s1", { title: "T" }, { onStale: "reject" }],
      ["delete", "slide", "s1"],
      ["archive", "slide", "s2"],
      ["unarchive", "slide", "s2"],
      ["commit", [{ action: "delete", model: "slide", id: "s2" }]],
    ]);
  });

  test("[V8] without a model there is commit alone", () => {
    const { result } = counted(() => useMutation());
    expect(Object.keys(result.current)).toEqual(["commit"]);
  });
});

describe("pending writes", () => {
  test("[V9] status, pending, conflicts and attention follow the client, and a selection renders by itself", () => {
    const isOnline = counted(() => useSyncStatus((status) => status.name === "online"));
    const status = counted(() => useSyncStatus());
    const pending = counted(() => usePending((mutations) => mutations.length));
    const conflicts = counted(() => useConflicts());
    const attention = counted(() => useAttention());
    const waiting = {
      clientTxId: "t1",
      phase: "queued",
      operations: [{ action: "update", model: "slide", id: "s1" }],
      createdAt: 1,
      attempts: 0,
    } as const;
    act(() => memory.set({ pending: [waiting], status: { ...memory.client.status(), pending: 1 } }));
    expect(status.result.current.pending).toBe(1);
    expect(pending.result.current).toBe(1);
    expect(isOnline.renders()).toBe(1);
    expect(conflicts.renders()).toBe(1);
    expect(attention.renders()).toBe(1);
  });
});

describe("types", () => {
  test("[V10] createHooks gives rows, patches and selections the schema's types", () => {
    // Never run: the compiler is the test.
    const typed = () => {
      const title: string | undefined = useRecord("slide", "s1")?.title;
      const orders: readonly number[] = useQuery("slide", { orderBy: "order" }, (rows) => rows.map((row) => row.order));
      const slide = useMutation("slide");
      slide.update("s1", { order: 2 });
      // @ts-expect-error: a title is a string
      slide.update("s1", { title: 2 });
      // @ts-expect-error: the schema has no such model
      useQuery("slyde");
      // @ts-expect-error: nor such a field
      useQuery("slide", { where: { deck: "d1" } });
      return [title, orders];
    };
    expect(typed).toBeTypeOf("function");
  });
});
