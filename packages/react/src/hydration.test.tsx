import { act, cleanup, render } from "@testing-library/react";
import { StrictMode } from "react";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HydrationBoundary, SyncProvider } from "./index.ts";
import { dehydrate, type Snapshot } from "./server.ts";
import {
  type BoardSchema,
  useClaim,
  useMutation,
  useOthers,
  usePending,
  useQuery,
  useRecord,
  useSuspenseQuery,
  useSyncStatus,
} from "./testing/board-schema.ts";
import { createMemoryClient, type MemoryClient } from "./testing/memory-client.ts";

const ofDeck = { where: { deckId: "d1" }, orderBy: "order" } as const;
let snapshot: Snapshot;
let memory: MemoryClient<BoardSchema>;
let complaints: unknown[][];

beforeEach(async () => {
  complaints = [];
  vi.spyOn(console, "error").mockImplementation((...words) => void complaints.push(words));
  const server = createMemoryClient<BoardSchema>(["slide", "person"]);
  server.put("slide", { id: "s1", deckId: "d1", title: "One", order: 1 });
  server.put("slide", { id: "s2", deckId: "d1", title: "Two", order: 2 });
  server.put("person", { id: "p1", name: "Ada" });
  server.reach(7);
  const answer = await dehydrate(server.client, [
    ["slide", ofDeck],
    ["person", "p1"],
  ]);
  snapshot = JSON.parse(JSON.stringify(answer));
  expect(snapshot).toEqual(answer);
  memory = createMemoryClient<BoardSchema>(["slide", "person"]);
});
afterEach(() => {
  cleanup();
  document.body.innerHTML = "";
});

function Page() {
  // Written in another order than it was asked in, and inline.
  const slides = useQuery("slide", { orderBy: "order", where: { deckId: "d1" } });
  const held = useSuspenseQuery("slide", ofDeck, (rows) => rows.length);
  const ada = useRecord("person", "p1", (person) => person.name);
  const second = useRecord("slide", "s2")?.title;
  const status = useSyncStatus(({ name }) => name);
  const waiting = usePending((pending) => pending.length);
  return (
    <p>
      {slides.map(({ title }) => title).join(" ")} · {held} · {second} · {ada} · {status} · {waiting}
    </p>
  );
}

const seen = new Set<unknown>();
const Titles = () => {
  const slides = useQuery("slide", ofDeck);
  // An `isEqual` that takes every new object for a change would loop if the answer were not the same object.
  const two = useRecord("slide", "s2", undefined, Object.is);
  seen.add(slides);
  return <p>{[...slides.map(({ title }) => title), two?.title].join(" ")}</p>;
};

let update: (() => unknown) | undefined;
const Rest = () => {
  const slide = useMutation("slide");
  update = () => slide.update("s1", { title: "No" });
  return (
    <p>
      {useClaim("slide", "s1").status} {useOthers("deck:d1").length} {useQuery("person").length}
    </p>
  );
};

const Unanswered = () => <p>{useSuspenseQuery("person").length}</p>;

const page = (client: typeof memory.client | undefined) => (
  <StrictMode>
    <SyncProvider client={client}>
      <HydrationBoundary state={snapshot}>
        <Page />
      </HydrationBoundary>
    </SyncProvider>
  </StrictMode>
);

/** The server's page, hydrated by React: the first and the last content, and the errors of the hydration. */
async function hydrated() {
  const place = document.createElement("main");
  document.body.append(place);
  place.innerHTML = renderToString(page(undefined));
  const sent = place.textContent;
  const mended: unknown[] = [];
  const root = await act(async () =>
    hydrateRoot(place, page(memory.client), { onRecoverableError: (error) => mended.push(error) }),
  );
  return { sent, mended, text: () => place.textContent, end: () => act(() => root.unmount()) };
}

test("[V17] a page that was rendered without a client is taken over without a complaint, then follows the client", async () => {
  const { sent, mended, text, end } = await hydrated();
  expect(sent).toBe("One Two · 2 · Two · Ada · starting · 0");
  expect(text()).toBe("One Two · 2 · Two · Ada · online · 0");
  act(() => {
    memory.put("slide", { id: "s1", deckId: "d1", title: "Renamed", order: 1 });
    memory.put("person", { id: "p1", name: "Ada L." });
    memory.reach(8);
  });
  expect(text()).toBe("Renamed · 1 ·  · Ada L. · online · 0");
  expect(mended).toEqual([]);
  expect(complaints).toEqual([]);
  await end();
});

test("[V17] [V18] a client that has read further before the page is taken over makes no mismatch, and is shown at once", async () => {
  memory.put("slide", { id: "s1", deckId: "d1", title: "Newer", order: 1 });
  memory.reach(9);
  const { mended, text, end } = await hydrated();
  expect(text()).toBe("Newer · 1 ·  ·  · online · 0");
  expect(mended).toEqual([]);
  expect(complaints).toEqual([]);
  await end();
});

test("[V18] a store of yesterday does not take the snapshot's place, and once the client has read as far it stays with it", async () => {
  memory.put("slide", { id: "s1", deckId: "d1", title: "Yesterday", order: 1 });
  memory.reach(3);
  const { text, end } = await hydrated();
  expect(text()).toContain("One Two");
  act(() => {
    memory.put("slide", { id: "s1", deckId: "d1", title: "Today", order: 1 });
    memory.reach(7);
  });
  expect(text()).toContain("Today");
  // A log that was restored counts anew.
  act(() => memory.reach(1));
  expect(text()).toContain("Today");
  await end();
});

test("[V18] writes during hydration are shown on top of the snapshot, and keep their identity", async () => {
  seen.clear();
  const { container, rerender } = render(
    <SyncProvider client={memory.client}>
      <HydrationBoundary state={snapshot}>
        <Titles />
      </HydrationBoundary>
    </SyncProvider>,
  );
  const write = (operations: object[]) => ({ clientTxId: "t", phase: "queued", operations, createdAt: 1, attempts: 0 });
  act(() => {
    memory.put("slide", { id: "s3", deckId: "d1", title: "Three", order: 3 });
    const operations = [
      { action: "update", model: "slide", id: "s2", data: { title: "Second" } },
      { action: "delete", model: "slide", id: "s1" },
      { action: "create", model: "slide", id: "s3", data: {} },
      { action: "update", model: "person", id: "s3", data: { title: "of another model" } },
    ];
    memory.set({ pending: [write(operations)] as never });
  });
  expect(container.textContent).toBe("Second Three Second");
  const before = seen.size;
  rerender(
    <SyncProvider client={memory.client}>
      <HydrationBoundary state={snapshot}>
        <Titles />
      </HydrationBoundary>
    </SyncProvider>,
  );
  expect(seen.size).toBe(before);
  expect(complaints).toEqual([]);
});

test("[V17] boundaries lie within each other: what the inner one does not answer, the outer one does", () => {
  const inner: Snapshot = {
    ...snapshot,
    answers: [{ model: "person", query: "p1", rows: [{ id: "p1", name: "Bob" }] }],
  };
  const html = renderToString(
    <SyncProvider client={undefined}>
      <HydrationBoundary state={snapshot}>
        <HydrationBoundary state={inner}>
          <Page />
        </HydrationBoundary>
      </HydrationBoundary>
    </SyncProvider>,
  );
  expect(html.replace(/<[^>]*>/g, "")).toBe("One Two · 2 · Two · Bob · starting · 0");
});

test("[V17] on a server claims are unknown, rooms empty, nothing can be written, and what no snapshot answers is an error", () => {
  const around = (child: React.ReactElement) => (
    <SyncProvider client={undefined}>
      <HydrationBoundary state={snapshot}>{child}</HydrationBoundary>
    </SyncProvider>
  );
  expect(renderToString(around(<Rest />)).replace(/<[^>]*>/g, "")).toBe("unknown 0 0");
  expect(() => update?.()).toThrow("There is no client yet");
  expect(() => renderToString(around(<Unanswered />))).toThrow('The snapshot has no answer for ["person",null]');
});

test("[V19] dehydrate rejects when no rows come in time, and for a model that is not there", async () => {
  memory.arrive(new Promise(() => {}));
  await expect(dehydrate(memory.client, [["slide"]], { timeoutMs: 5 })).rejects.toThrow("no rows after 5 ms");
  const { client } = createMemoryClient<BoardSchema>(["slide"]);
  await expect(dehydrate(client, [["person"]])).rejects.toThrow('no model "person"');
});

test("[V17] a snapshot has plain objects: a server component may pass on no others", async () => {
  const facts = { $createdAt: "2026-01-01T00:00:00.000Z" };
  memory.put("slide", Object.assign(Object.create(facts), { id: "s1", deckId: "d1", title: "One", order: 1 }));
  memory.reach(8);
  const { answers } = await dehydrate(memory.client, [["slide"]]);
  const rows = answers.flatMap((answer) => answer.rows);
  expect(rows).toHaveLength(1);
  expect(Object.getPrototypeOf(rows[0])).toBe(Object.prototype);
});
