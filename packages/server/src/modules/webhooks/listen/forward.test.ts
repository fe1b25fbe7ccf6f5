import type { LogEntry } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { forward, type Page, type Ports } from "./forward.ts";
import type { ForwardedBatch } from "./send-batch.ts";

const entries = (from: number, to: number): LogEntry[] =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ syncId: from + i, model: "a", verb: "created" }) as LogEntry);
const taken: ForwardedBatch = {
  webhookId: "m",
  outcome: { kind: "succeeded", status: 200 },
  response: "",
  startedAt: "",
  durationMs: 1,
};
const failed: ForwardedBatch = {
  ...taken,
  outcome: { kind: "failed", code: "unexpected_status", message: "", status: 500 },
};
const away = new Error("away");

/** A log in pages, and a scripted handler and server that record all calls. */
function tenant(pages: Readonly<Record<number, Page | Error | (Page | Error)[]>>, outcomes: ForwardedBatch[] = []) {
  const told: string[] = [];
  const controller = new AbortController();
  let under = 0;
  const ports: Ports = {
    signal: controller.signal,
    async read(after) {
      const found = pages[after];
      const page = Array.isArray(found) ? found.shift() : found;
      if (!page) controller.abort();
      controller.signal.throwIfAborted();
      if (page instanceof Error) throw page;
      told.push(`read ${after}`);
      return page as Page;
    },
    isTransient: (error) => error === away,
    async send({ from, to }) {
      under += 1;
      expect(under).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      under -= 1;
      told.push(`send ${from}-${to}`);
      return outcomes.shift() ?? taken;
    },
    pause: async (ms) => void told.push(`pause ${ms}`),
    unread: (_, againMs) => told.push(`unread ${againMs}`),
    readAgain: () => told.push("read again"),
    sent: (_, __, attempt, againMs) =>
      told.push(`attempt ${attempt}${againMs === undefined ? "" : ` again ${againMs}`}`),
  };
  return { told, ports, controller };
}

test("[W61] the log goes out in order, one request at a time, and the position moves over what is not shown", async () => {
  const { told, ports } = tenant({
    4: { entries: entries(5, 154), examined: 154 },
    154: { entries: [], examined: 300 },
    300: { entries: entries(301, 301), examined: 305 },
  });
  expect(await forward(4, ports)).toBe(305);
  expect(told.filter((line) => !line.startsWith("attempt"))).toEqual([
    "read 4",
    "send 5-104",
    "send 105-154",
    "read 154",
    "read 300",
    "send 301-301",
  ]);
});

test("[W61] a batch that is not accepted is repeated unchanged after 1, 2, 4 … 30 s, and later events wait", async () => {
  const { told, ports } = tenant(
    { 0: { entries: entries(1, 101), examined: 101 } },
    Array<ForwardedBatch>(8).fill(failed),
  );
  expect(await forward(0, ports)).toBe(101);
  const waits = told.filter((line) => line.startsWith("pause"));
  expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30, 30].map((seconds) => `pause ${seconds * 1_000}`));
  expect(told.filter((line) => line.startsWith("send"))).toEqual([...Array(9).fill("send 1-100"), "send 101-101"]);
  expect(told.filter((line) => line.startsWith("attempt"))).toEqual([
    ...[1, 2, 4, 8, 16, 30, 30, 30].map((seconds, i) => `attempt ${i + 1} again ${seconds * 1_000}`),
    "attempt 9",
    "attempt 1",
  ]);
});

test("[W62] an unreachable server is retried from the same position; a refusal ends the command", async () => {
  const page: Page = { entries: entries(1, 1), examined: 1 };
  const { told, ports } = tenant({ 0: [away, away, page], 1: new Error("410") });
  await expect(forward(0, ports)).rejects.toThrow("410");
  expect(told).toEqual([
    ...["unread 1000", "pause 1000", "unread 2000", "pause 2000"],
    ...["read 0", "read again", "send 1-1", "attempt 1"],
  ]);
});

test("[W62] interrupted while a batch is under way, it stops behind what was taken", async () => {
  const { ports, controller } = tenant({ 0: { entries: entries(1, 150), examined: 150 } });
  let sent = 0;
  const stopping: Ports = {
    ...ports,
    async send(batch) {
      if (++sent === 1) return await ports.send(batch);
      controller.abort();
      throw controller.signal.reason;
    },
  };
  expect(await forward(0, stopping)).toBe(100);
});
