import type { Proposal } from "@holdfast/sdk";
import { createClient } from "@holdfast/sdk/node";
import { act, cleanup, renderHook } from "@testing-library/react";
import { type ReactNode, StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { afterEach, expect, test } from "vitest";
import { SyncProvider, useProposals } from "./index.ts";
import { boardSchema } from "./testing/board-schema.ts";

afterEach(cleanup);

/** A client whose proposals come when the test says so. */
function open() {
  const client = createClient({ schema: boardSchema, url: "http://127.0.0.1:9", getToken: () => "", paused: true });
  const listeners = new Map<(found: readonly Proposal[]) => void, object>();
  const told: object[] = [];
  const proposals = {
    ...client.proposals,
    subscribe(query: object, listener: (found: readonly Proposal[]) => void) {
      listeners.set(listener, query);
      return () => void listeners.delete(listener);
    },
    accept: (...given: object[]) => void told.push(given),
  };
  const own = { ...client, proposals } as unknown as typeof client;
  const wrapper = ({ children }: { children: ReactNode }) => (
    <StrictMode>
      <SyncProvider client={own}>{children}</SyncProvider>
    </StrictMode>
  );
  const tell = (found: readonly object[]) =>
    act(() => {
      for (const listener of listeners.keys()) listener(found as readonly Proposal[]);
    });
  return { wrapper, tell, listeners, told, close: client.close };
}

test("[V48] proposals are loading until they have been read, and then follow their subscription", async () => {
  const { wrapper, tell, listeners, told, close } = open();
  const hook = renderHook(({ id }) => useProposals({ model: "slide", id }), { wrapper, initialProps: { id: "s1" } });
  expect(hook.result.current).toMatchObject({ proposals: [], isLoading: true });
  expect([...listeners.values()]).toEqual([{ model: "slide", id: "s1" }]);
  const first = { id: "p1" };
  tell([first]);
  expect(hook.result.current).toMatchObject({ proposals: [first], isLoading: false });
  const before = hook.result.current;
  hook.rerender({ id: "s1" });
  expect(hook.result.current).toBe(before);
  hook.result.current.accept(first as Proposal, { reason: "Yes" });
  expect(told).toEqual([[first, { reason: "Yes" }]]);
  hook.rerender({ id: "s2" });
  expect(hook.result.current).toMatchObject({ proposals: [], isLoading: true });
  expect([...listeners.values()]).toEqual([{ model: "slide", id: "s2" }]);
  hook.unmount();
  expect(listeners.size).toBe(0);
  await close();
});

test("[V48] on a server there are none yet, and nothing is asked", async () => {
  const { wrapper: Wrapper, listeners, close } = open();
  const page = (client?: undefined) =>
    renderToString(
      <SyncProvider client={client}>
        <Count />
      </SyncProvider>,
    );
  expect(page()).toContain("0 true");
  expect(
    renderToString(
      <Wrapper>
        <Count />
      </Wrapper>,
    ),
  ).toContain("0 true");
  expect(listeners.size).toBe(0);
  await close();
});

function Count() {
  const { proposals, isLoading } = useProposals();
  return <p>{`${proposals.length} ${isLoading}`}</p>;
}
