import { createTestServer } from "@holdfast/sdk/testing";
import { act, cleanup, renderHook } from "@testing-library/react";
import { type ReactNode, StrictMode } from "react";
import { afterEach, expect, test } from "vitest";
import { SyncProvider } from "./index.ts";
import { boardSchema, useQuery, useQueryState } from "./testing/board-schema.ts";

afterEach(cleanup);

/** A server with two decks of two slides, and a client that has none of them. */
async function start() {
  const { client: open, settle } = createTestServer(boardSchema);
  const writer = open({ actor: "ben" }).client;
  await writer.ready();
  for (const deckId of ["d1", "d2"])
    for (const n of [1, 2]) writer.models.slide.create({ deckId, title: `${deckId} ${n}`, order: n });
  await writer.drain({ timeoutMs: 10_000 });
  const { client } = open({ follow: { where: { slide: [] } } });
  await client.ready({ rows: "complete" });
  const wrapper = ({ children }: { children: ReactNode }) => (
    <StrictMode>
      <SyncProvider client={client}>{children}</SyncProvider>
    </StrictMode>
  );
  const settled = () =>
    act(async () => {
      for (let i = 0; i < 5; i++) await settle();
    });
  return { client, wrapper, settled };
}

test("[V44] a query with `load` loads the part of its own conditions while it is mounted, and then that of others", async () => {
  const { client, wrapper, settled } = await start();
  const { result, rerender, unmount } = renderHook(
    ({ deckId }) => useQueryState("slide", { where: { deckId }, orderBy: "order", load: true }),
    { wrapper, initialProps: { deckId: "d1" } },
  );
  await settled();
  expect(result.current.rows.map(({ title }) => title)).toEqual(["d1 1", "d1 2"]);
  expect(result.current.status).toBe("complete");
  rerender({ deckId: "d2" });
  await settled();
  expect(result.current.rows.map(({ title }) => title)).toEqual(["d2 1", "d2 2"]);
  // What is released stays, until there is no room for it.
  expect(client.models.slide.count()).toBe(4);
  unmount();
  for (let n = 0; n <= 20; n++) {
    const part = client.load("slide", { deckId: `none-${n}` });
    await part.ready;
    part.release();
  }
  expect(client.models.slide.count()).toBe(0);
  await client.close();
});

test("[V44] without `load`, with `false` and with `skip` nothing is loaded", async () => {
  const { client, wrapper, settled } = await start();
  const { rerender } = renderHook(
    ({ skips }) => [
      useQuery("slide", skips ? "skip" : { where: { deckId: "d1" }, load: false }),
      useQueryState("slide", { where: { deckId: "d2" } }),
    ],
    { wrapper, initialProps: { skips: false } },
  );
  await settled();
  rerender({ skips: true });
  await settled();
  expect(client.models.slide.count()).toBe(0);
  await client.close();
});

test("[V44] conditions that `load` does not take throw where the query is shown", async () => {
  const { client, wrapper } = await start();
  const shown = () => useQuery("slide", { where: { or: [{ deckId: "d1" }, { order: 1 }] }, load: true });
  expect(() => renderHook(shown, { wrapper })).toThrow(/no field "or"/);
  await client.close();
});
