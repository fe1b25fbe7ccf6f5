import { WebSocket } from "ws";
import { askJson } from "../../../scripts/testing/ask-json.ts";
import { percentile, type Runs, summarize } from "../report/statistics.ts";
import { type Row, round } from "../report/table.ts";
import { creates } from "../stage/creates.ts";
import { firstLine, startProgram } from "../stage/processes.ts";
import { type Options, openStage, runLoad } from "../stage/stage.ts";

const HELD = 10_000;
const WAITING = 1_000;
const CONNECTIONS = 64;
const HAND_OVERS = 300;

/** How fast a claim is handed on, and what a process full of claims costs the commits beside them. */
export async function measureClaims({ rounds, seconds, print }: Options): Promise<Row[]> {
  await using stage = await openStage();
  const free = await stage.server({ database: "free" });
  const full = await stage.server({ database: "claimed" });
  print(`${HELD.toLocaleString("en-US")} claims and ${WAITING.toLocaleString("en-US")} waiters take their places`);
  using workerPool = startProgram(new URL("claimants.ts", import.meta.url), [
    JSON.stringify({ url: full.url, token: full.tokens[0], held: HELD, waiting: WAITING }),
  ]);
  await firstLine(workerPool);
  const commits = async (server: typeof free) =>
    (await runLoad({ ...creates(server), connections: CONNECTIONS, seconds })).perSecond;
  const found = { free: [] as number[], full: [] as number[], p50: [] as number[], p99: [] as number[] };
  // Code that has run is faster: both have.
  for (const server of [free, full]) await commits(server);
  for (let n = 0; n < rounds; n++) {
    // Each goes first in turn: what the one leaves to be written to disk, the other would pay for.
    const both = [
      [found.free, free],
      [found.full, full],
    ] as const;
    for (const [rates, server] of n % 2 === 0 ? both : both.toReversed()) rates.push(await commits(server));
    const delays = (await handOvers(full.url, full.tokens[0] as string, n)).sort((a, b) => a - b);
    found.p50.push(percentile(delays, 0.5));
    found.p99.push(percentile(delays, 0.99));
    const last = Object.entries(found).map(([name, values]) => `${name} ${values.at(-1)?.toFixed(2)}`);
    print(`round ${n + 1} of ${rounds}: ${last.join(", ")}`);
  }
  if (workerPool.exitCode !== null) throw new Error("The claimants ended before their time.");
  const runs = Object.fromEntries(Object.entries(found).map(([name, values]) => [name, summarize(values)])) as Record<
    keyof typeof found,
    Runs
  >;
  return [
    {
      what: "a claim handed over, from the release to the next waiter's socket, p50",
      unit: "ms",
      runs: runs.p50,
      note: "target 10 ms",
    },
    { what: "a claim handed over, p99", unit: "ms", runs: runs.p99, note: "target 50 ms" },
    { what: `commits, no claims, ${CONNECTIONS} connections`, unit: "/s", runs: runs.free },
    {
      what: `commits beside ${HELD.toLocaleString("en-US")} live claims and ${WAITING.toLocaleString("en-US")} waiters, renewed and polled`,
      unit: "/s",
      runs: runs.full,
      against: `**${round(runs.full.median / runs.free.median)}** of none`,
      note: "target 0.90",
    },
  ];
}

/** Two participants hand one record back and forth; each hears of its turn on its own socket. */
async function handOvers(url: string, token: string, run: number): Promise<number[]> {
  const record = `handed-${run}`;
  await askJson(`${url}/v1/models/slide`, token, "POST", { id: record, data: { title: "Handed over" } });
  const [one, other] = await Promise.all(["ping", "pong"].map((name) => player(url, token, `${name}${run}`, record)));
  if (!one || !other) throw new Error("Two are needed.");
  const delays: number[] = [];
  let [holder, waiter] = [one, other];
  let held = await holder.claim();
  for (let n = 0; n < HAND_OVERS; n++) {
    const next = await waiter.claim();
    const granted = waiter.granted(next);
    const start = performance.now();
    const released = holder.release(held);
    delays.push((await granted) - start);
    await released;
    [holder, waiter] = [waiter, holder];
    held = next;
  }
  await holder.release(held);
  one.close();
  other.close();
  return delays;
}

async function player(url: string, secretKey: string, participantId: string, record: string) {
  const json = { wideScope: true, participantId };
  const { token } = await askJson<{ token: string }>(`${url}/v1/capabilities`, secretKey, "POST", json);
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/stream`, ["holdfast.v1"]);
  const onGranted = new Map<string, (at: number) => void>();
  const welcomed = new Promise<void>((resolve) => {
    socket.on("message", (data: Buffer) => {
      const at = performance.now();
      const frame = JSON.parse(data.toString()) as { frame: string; claim?: { id: string; status: string } };
      if (frame.frame === "welcome") resolve();
      if (frame.frame === "claim" && frame.claim?.status === "active") onGranted.get(frame.claim.id)?.(at);
    });
  });
  socket.on("open", () => socket.send(JSON.stringify({ frame: "hello", token, models: [] })));
  await welcomed;
  return {
    claim: async () =>
      String((await askJson(`${url}/v1/models/slide/${record}/claim`, token, "POST", { queue: true })).id),
    granted: (id: string) => new Promise<number>((resolve) => onGranted.set(id, resolve)),
    release: (id: string) => askJson(`${url}/v1/claims/${id}`, token, "DELETE"),
    close: () => socket.terminate(),
  };
}
