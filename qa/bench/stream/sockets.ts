import { percentile, summarize } from "../report/statistics.ts";
import { type Row, round } from "../report/table.ts";
import { cpuSecondsOf } from "../stage/cpu-seconds.ts";
import { endProgram, firstLine, startProgram } from "../stage/processes.ts";
import { type Options, openStage } from "../stage/stage.ts";
import { mintTokens } from "../tenants/mint-tokens.ts";
import { heardDelays } from "./steady-writes.ts";

const SOCKETS = 10_000;
const PEOPLE = 100;
const PER_SECOND = 10;
const SECONDS = 10;

/** Few writes that very many sockets of one process hear, beside a server that does nothing but write to sockets. */
export async function measureSockets({ rounds, print }: Options): Promise<Row[]> {
  await using stage = await openStage();
  const server = await stage.server({ database: "sockets" });
  const people = await mintTokens(server, server.tokens[0] as string, PEOPLE);
  const found = [0, 1].map(() => ({ p50: [] as number[], p99: [] as number[], cpu: [] as number[] }));
  for (let n = 0; n < rounds; n++) {
    const bare = startProgram(new URL("bare-broadcast.ts", import.meta.url));
    const { url } = await firstLine<{ url: string }>(bare);
    const sides = [
      { name: "bare sockets", url, pid: bare.pid as number, tokens: ["none"] },
      { name: "Holdfast", url: server.url, pid: server.child.pid as number, tokens: people },
    ];
    for (const [i, side] of sides.entries()) {
      let seconds = 0;
      const plan = { sockets: SOCKETS, perSecond: PER_SECOND, warmSeconds: 3, seconds: SECONDS };
      const delays = await heardDelays({ url: side.url, tokens: side.tokens, ...plan }, async (run) => {
        const before = cpuSecondsOf(side.pid);
        await run();
        seconds = cpuSecondsOf(side.pid) - before;
      });
      delays.sort((a, b) => a - b);
      const own = found[i] as (typeof found)[number];
      own.p50.push(percentile(delays, 0.5));
      own.p99.push(percentile(delays, 0.99));
      own.cpu.push((seconds * 1e6) / delays.length);
      print(
        `round ${n + 1} of ${rounds}: ${side.name} p50 ${round(own.p50.at(-1) ?? 0)}, p99 ${round(own.p99.at(-1) ?? 0)} ms, ${round(own.cpu.at(-1) ?? 0)} µs each`,
      );
    }
    await endProgram(bare);
  }
  const [floor, ours] = found as [(typeof found)[number], (typeof found)[number]];
  return (["p50", "p99", "cpu"] as const).flatMap((key): Row[] => {
    const what = key === "cpu" ? "CPU of the server for each socket and write" : `sent → heard, ${key}`;
    const unit = key === "cpu" ? "µs" : "ms";
    const shares = summarize(ours[key].map((value, n) => value / (floor[key][n] as number)));
    const ratio = `**${round(shares.median)}** (${round(shares.min)} – ${round(shares.max)}) × bare`;
    const sockets = `${SOCKETS.toLocaleString("en-US")} sockets on one process hear ${PER_SECOND} writes/s`;
    return [
      { what: `bare sockets: ${sockets}, ${what}`, unit, runs: summarize(floor[key]) },
      { what: `Holdfast: ${sockets}, ${what}`, unit, runs: summarize(ours[key]), against: ratio },
    ];
  });
}
