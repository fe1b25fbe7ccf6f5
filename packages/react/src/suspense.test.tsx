import { act, cleanup, render } from "@testing-library/react";
import { Component, type ReactNode, StrictMode, Suspense } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SyncProvider } from "./index.ts";
import { type BoardSchema, useSuspenseQuery, useSuspenseRecord } from "./testing/board-schema.ts";
import { createMemoryClient, type MemoryClient } from "./testing/memory-client.ts";

let memory: MemoryClient<BoardSchema>;
let arrive: () => void;
let fail: (error: Error) => void;
beforeEach(() => {
  memory = createMemoryClient<BoardSchema>(["slide", "person"]);
  memory.set({ status: { ...memory.client.status(), name: "starting" } });
  memory.arrive(
    new Promise((yes, no) => {
      arrive = yes;
      fail = no;
    }),
  );
});
afterEach(cleanup);

let renders = 0;
const Title = () => {
  const title = useSuspenseRecord("slide", "s1", (slide) => slide.title);
  const count = useSuspenseQuery("slide", { where: { deckId: "d1" } }, (rows) => rows.length);
  renders += 1;
  return (
    <p>
      {title ?? "no such slide"} of {count}
    </p>
  );
};
const Skipping = () => <p>{useSuspenseQuery("slide", "skip").length + (useSuspenseRecord("slide", "skip") ? 1 : 0)}</p>;

class Boundary extends Component<{ children: ReactNode }> {
  override state = { says: "" };
  static getDerivedStateFromError = (error: Error) => ({ says: error.message });
  override render = () => this.state.says || this.props.children;
}

const shown = (child: ReactNode) =>
  render(
    <StrictMode>
      <SyncProvider client={memory.client}>
        <Boundary>
          <Suspense fallback="loading">{child}</Suspense>
        </Boundary>
      </SyncProvider>
    </StrictMode>,
  ).container;

test("[V16] a component suspends until the rows can be read, and then renders when its results change", async () => {
  const container = shown(<Title />);
  expect(container.textContent).toBe("loading");
  await act(async () => {
    memory.put("slide", { id: "s1", deckId: "d1", title: "One", order: 1 });
    arrive();
  });
  expect(container.textContent).toBe("One of 1");
  const before = renders;
  act(() => memory.put("slide", { id: "s2", deckId: "d2", title: "Elsewhere", order: 1 }));
  expect(renders).toBe(before);
  act(() => memory.put("slide", { id: "s1", deckId: "d1", title: "Renamed", order: 1 }));
  expect(container.textContent).toBe("Renamed of 1");
  act(() => memory.remove("slide", "s1"));
  expect(container.textContent).toBe("no such slide of 0");
});

test("[V16] a client that has rows is read without suspending, and skip never suspends", async () => {
  expect(shown(<Skipping />).textContent).toBe("0");
  cleanup();
  memory = createMemoryClient<BoardSchema>(["slide"]);
  expect(shown(<Title />).textContent).toBe("no such slide of 0");
});

test("[V16] a client that is closed before its rows came is an error for the boundary", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const container = shown(<Title />);
  await act(async () => fail(new Error("The client is closed.")));
  expect(container.textContent).toBe("The client is closed.");
});
