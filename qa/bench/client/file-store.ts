import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, defineSchema, fileStorage } from "@holdfast/sdk/node";
import { percentile, summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import type { Options } from "../stage/stage.ts";

const WRITES = 1_000;
const QUEUED = 10_000;
const ROWS = 100_000;
const PAGE = 1_000;

const schema = defineSchema({
  models: { slide: { fields: { deckId: { type: "string" }, title: { type: "string" }, order: { type: "number" } } } },
});

/** An agent's store in a file, without a server: a write on disk, a restart with a long queue, a snapshot. */
export async function measureFileStore({ rounds, print }: Options): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  const runs = { queued: [], slow: [], floor: [], restart: [], snapshot: [], rows: [] } as Record<string, number[]>;
  try {
    for (let round = 0; round < rounds; round++) {
      const path = join(folder, `agent-${round}.db`);
      const delays = await writeDurably(path);
      runs.queued?.push(percentile(delays, 0.5));
      runs.slow?.push(percentile(delays, 0.99));
      runs.floor?.push(percentile(appendDurably(join(folder, "floor")), 0.5));
      runs.restart?.push(await restartWithQueue(path));
      const { rowsPerSecond, readMs } = await keepSnapshot(join(folder, `rows-${round}.db`));
      runs.snapshot?.push(rowsPerSecond);
      runs.rows?.push(readMs);
      const figures = Object.entries(runs).map(([name, values]) => `${name} ${values.at(-1)?.toFixed(2)}`);
      print(`round ${round + 1} of ${rounds}: ${figures.join(", ")}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const { queued = [], slow = [], floor = [], restart = [], snapshot = [], rows = [] } = runs;
  const [write, append] = [summarize(queued), summarize(floor)];
  return [
    { what: "floor: a line appended to a file and synced, p50", unit: "ms", runs: append },
    {
      what: "SDK in Node: from `update()` to `queued`, on disk, p50",
      unit: "ms",
      runs: write,
      against: `${(write.median / append.median).toFixed(1)} of the floor`,
      note: "target 5 ms",
    },
    { what: "the same, p99", unit: "ms", runs: summarize(slow) },
    {
      what: `SDK in Node: a client that is made again has its ${QUEUED.toLocaleString("en-US")} queued writes`,
      unit: "ms",
      runs: summarize(restart),
      note: "target 500 ms",
    },
    { what: "SDK in Node: rows of a snapshot kept", unit: "/s", runs: summarize(snapshot), note: "target 20 000/s" },
    {
      what: `SDK in Node: ${ROWS.toLocaleString("en-US")} rows read from the file`,
      unit: "ms",
      runs: summarize(rows),
    },
  ];
}

/** No server listens there. */
const client = (path: string) =>
  createClient({ schema, url: "http://127.0.0.1:1", getToken: () => "token", storage: fileStorage(path) });

async function writeDurably(path: string): Promise<number[]> {
  const agent = client(path);
  const delays: number[] = [];
  for (let i = 0; i < WRITES; i++) {
    const start = performance.now();
    await agent.models.slide.create({ deckId: "d1", title: `Slide ${i}`, order: i }).queued;
    delays.push(performance.now() - start);
  }
  for (let i = WRITES; i < QUEUED; i++) agent.models.slide.create({ deckId: "d1", title: `Slide ${i}`, order: i });
  await agent.close();
  return delays.sort((a, b) => a - b);
}

function appendDurably(path: string): number[] {
  const file = openSync(path, "w");
  const line = "x".repeat(400);
  const delays = Array.from({ length: WRITES }, () => {
    const start = performance.now();
    writeSync(file, line);
    fdatasyncSync(file);
    return performance.now() - start;
  });
  closeSync(file);
  return delays.sort((a, b) => a - b);
}

async function restartWithQueue(path: string): Promise<number> {
  const start = performance.now();
  const agent = client(path);
  while (agent.status().pending < QUEUED) await new Promise((resolve) => setImmediate(resolve));
  const took = performance.now() - start;
  await agent.close();
  return took;
}

async function keepSnapshot(path: string): Promise<{ rowsPerSecond: number; readMs: number }> {
  const storage = fileStorage(path).open("bench");
  await storage.open("c");
  const { generation } = await storage.takeLead();
  const pages = Array.from({ length: ROWS / PAGE }, (_, page) =>
    Array.from({ length: PAGE }, (_, n) => {
      const id = `slide-${page * PAGE + n}`;
      const data = { id, deckId: "d1", title: `Slide ${n}`, order: n, notes: "n".repeat(200) };
      return { record: { model: "slide", id }, value: { data, archivedAt: null, syncId: 1 } };
    }),
  );
  const start = performance.now();
  for (const [at, changes] of pages.entries()) {
    const cursor = at === pages.length - 1 ? null : String(at + 1);
    await storage.keepPage({ logId: "log", stamp: 1, first: at === 0, changes, cursor }, generation);
  }
  const kept = performance.now();
  const { rows } = await storage.readQueue();
  const readMs = performance.now() - kept;
  if (rows?.tables.slide?.size !== ROWS) throw new Error("Not all rows were kept.");
  await storage.close();
  return { rowsPerSecond: ROWS / ((kept - start) / 1_000), readMs };
}
