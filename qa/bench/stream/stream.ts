import { once } from "node:events";
import { createInterface } from "node:readline";
import { percentile, summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import { startProgram } from "../stage/processes.ts";
import { createSender, type Sent } from "../stage/sender.ts";
import { openStage } from "../stage/stage.ts";
import type { ListenPlan } from "./listeners.ts";

const PER_SECOND = 300;
/** At the same pace, and not counted: V8 is at work on all three for about as long. */
const WARM_SECONDS = 8;
/** Of 3,000 commits, the slowest in a hundred are those of a few moments: of fewer, they are those of one. */
const HEARD_SECONDS = 10;
const COUNTED = "Heard ";

/** From sending a commit to hearing it on another client's socket: sender, server and listeners are three processes. */
export async function measureStream({ rounds, print }: { rounds: number; print(line: string): void }): Promise<Row[]> {
  await using stage = await openStage();
  const server = await stage.server();
  const token = server.tokens[0] as string;
  const rows: Row[] = [];
  for (const sockets of [1, 100]) {
    const found: { p50: number; p99: number }[] = [];
    for (let n = 0; n < rounds; n++) {
      const delays = (await oneRun(server.url, token, sockets)).sort((a, b) => a - b);
      found.push({ p50: percentile(delays, 0.5), p99: percentile(delays, 0.99) });
      print(
        `round ${n + 1} of ${rounds}: ${sockets} sockets, ${delays.length} deliveries, p50 ${found.at(-1)?.p50.toFixed(2)} ms, p99 ${found.at(-1)?.p99.toFixed(2)} ms`,
      );
    }
    const what = `sent → heard by another client, ${sockets} socket${sockets === 1 ? "" : "s"}, ${PER_SECOND} commits/s for ${HEARD_SECONDS} s`;
    rows.push({
      what: `${what}, p50`,
      unit: "ms",
      runs: summarize(found.map(({ p50 }) => p50)),
      ...(sockets === 100 && { note: "target 5 ms" }),
    });
    rows.push({
      what: `${what}, p99`,
      unit: "ms",
      runs: summarize(found.map(({ p99 }) => p99)),
      ...(sockets === 100 && { note: "target 15 ms" }),
    });
  }
  return rows;
}

async function oneRun(url: string, token: string, sockets: number): Promise<number[]> {
  const child = startProgram(new URL("listeners.ts", import.meta.url), [
    JSON.stringify({ url, token, sockets, mark: COUNTED } satisfies ListenPlan),
  ]);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  await lines.next();
  await sendSteadily(url, token, WARM_SECONDS, "Warm ");
  await sendSteadily(url, token, HEARD_SECONDS, COUNTED);
  child.kill("SIGTERM");
  const delays = JSON.parse((await lines.next()).value as string) as number[];
  const wanted = sockets * HEARD_SECONDS * PER_SECOND;
  if (delays.length !== wanted) throw new Error(`${sockets} sockets heard ${delays.length} of ${wanted} commits.`);
  if (child.exitCode === null) await once(child, "exit");
  return delays;
}

/** Commits at an even pace, whatever their answers take: a slow server gets no rest. `mark` stands before the time of sending. */
async function sendSteadily(url: string, token: string, seconds: number, mark: string): Promise<void> {
  const body = JSON.stringify({ id: "l[<id>]", data: { deckId: "deck-1", title: "A slide", notes: `${mark}[<ns>]` } });
  // So many that none is missing before an answer is a second late.
  const sender = await createSender(url, PER_SECOND, [{ path: "/v1/models/slide", token, body }]);
  const sent: Promise<Sent>[] = [];
  const start = performance.now();
  for (let n = 0; n < seconds * PER_SECOND; n++) {
    const wait = start + (n * 1_000) / PER_SECOND - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const posted = sender.post();
    if (!posted) throw new Error("The server is more than a second behind.");
    sent.push(posted);
  }
  const failed = (await Promise.all(sent)).reduce((sum, one) => sum + one.failed, 0);
  if (failed > 0) throw new Error(`${failed} of ${sent.length} commits failed.`);
  await new Promise((resolve) => setTimeout(resolve, 200));
  sender.close();
}
