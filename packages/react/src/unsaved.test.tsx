import { join } from "node:path";
import { createClient, fileStorage } from "@holdfast/sdk/node";
import { act, cleanup, render } from "@testing-library/react";
import { StrictMode } from "react";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../scripts/testing/temporary-folder.ts";
import { SyncProvider, type UnsavedOptions, usePreventUnsavedChanges } from "./index.ts";
import { type BoardSchema, boardSchema } from "./testing/board-schema.ts";
import { createMemoryClient, type MemoryClient } from "./testing/memory-client.ts";

let memory: MemoryClient<BoardSchema>;
beforeEach(() => {
  memory = createMemoryClient<BoardSchema>(["slide"]);
});
afterEach(cleanup);

/** Whether the browser would be asked to keep the page open. */
const isKept = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));

let renders = 0;
function Guard(options: UnsavedOptions) {
  renders += 1;
  usePreventUnsavedChanges(options);
  return null;
}
const guarded = (options: UnsavedOptions, client = memory.client) =>
  render(
    <StrictMode>
      <SyncProvider client={client}>
        <Guard {...options} />
      </SyncProvider>
    </StrictMode>,
  );

const pending = (phase: string) =>
  memory.set({ pending: [{ clientTxId: "t1", phase, operations: [], createdAt: 1, attempts: 0 }] as never });

test.each([
  ["durable", "saving", true],
  ["durable", "queued", false],
  ["durable", "sending", false],
  ["durable", "blocked", false],
  ["durable", "confirmed", false],
  ["sent", "saving", true],
  ["sent", "queued", true],
  ["sent", "sending", true],
  ["sent", "blocked", true],
  ["sent", "confirmed", false],
] as const)("[V20] until %s, a write that is %s keeps the page: %s", (until, phase, keeps) => {
  const { unmount } = guarded({ until });
  expect(isKept()).toBe(false);
  const before = renders;
  pending(phase);
  expect(isKept()).toBe(keeps);
  memory.set({ pending: [] });
  expect(isKept()).toBe(false);
  pending(phase);
  unmount();
  expect(isKept()).toBe(false);
  expect(memory.listeners()).toBe(0);
  expect(renders).toBe(before);
});

test("[V20] in memory alone all that waits keeps the page, also what waits for a decision", () => {
  guarded({});
  memory.set({ status: { ...memory.client.status(), storage: "memory" } });
  expect(isKept()).toBe(false);
  pending("queued");
  expect(isKept()).toBe(true);
  memory.set({ pending: [], status: { ...memory.client.status(), attention: 1 } });
  expect(isKept()).toBe(true);
});

test.each([true, false])(
  "[V20] the real client's write keeps the page until it is on disk, if ever: %s",
  async (hasDisk) => {
    const folder = temporaryFolder("unsaved", onTestFinished);
    const client = createClient({
      schema: boardSchema,
      url: "http://127.0.0.1:9",
      getToken: () => "",
      paused: true,
      ...(hasDisk && { storage: fileStorage(join(folder, "store.db")) }),
    });
    guarded({}, client as unknown as typeof memory.client);
    const write = client.models.slide.create({ title: "One" });
    expect(isKept()).toBe(true);
    await act(() => write.queued);
    expect(isKept()).toBe(!hasDisk);
    await client.close();
  },
);
