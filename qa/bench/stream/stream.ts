import { percentile, summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import { openStage } from "../stage/stage.ts";
import { heardDelays } from "./steady-writes.ts";

const PER_SECOND = 300;
/** Of 3,000 commits, the slowest in a hundred are those of a few moments: of fewer, they are those of one. */
const HEARD_SECONDS = 10;

/** From sending a commit to hearing it on another client's socket: sender, server and listeners are three processes. */
export async function measureStream({ rounds, print }: { rounds: number; print(line: string): void }): Promise<Row[]> {
  await using stage = await openStage();
  const server = await stage.server();
  const token = server.tokens[0] as string;
  const plan = { url: server.url, tokens: [token], perSecond: PER_SECOND, warmSeconds: 8, seconds: HEARD_SECONDS };
  const rows: Row[] = [];
  for (const sockets of [1, 100]) {
    const found: { p50: number; p99: number }[] = [];
    for (let n = 0; n < rounds; n++) {
      const delays = (await heardDelays({ ...plan, sockets })).sort((a, b) => a - b);
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
