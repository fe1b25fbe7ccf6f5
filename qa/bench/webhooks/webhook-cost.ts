import { setTimeout as pause } from "node:timers/promises";
import { summarize } from "../report/statistics.ts";
import { type Row, round } from "../report/table.ts";
import { creates } from "../stage/creates.ts";
import { type Options, runLoad, type Stage } from "../stage/stage.ts";
import { call, ENDPOINTS, register, type Server, startReceiver } from "./webhook-stage.ts";

const CONNECTIONS = 64;
/** How long commits go on, as a multiple of a run. */
const LONG = 4;

/** Commits as fast as they are answered, with twenty endpoints and with none. */
export async function measureCost(stage: Stage, { rounds, seconds, print }: Options): Promise<Row[]> {
  await using receiver = await startReceiver({ answerMs: 0, hanging: "" });
  const free = await stage.server({ database: "no-endpoints" });
  const busy = await stage.server({ database: "endpoints" });
  for (let i = 0; i < ENDPOINTS; i++) await register(busy, `${receiver.url}/hook-${i}`);
  const commits = async (server: Server) =>
    (await runLoad({ ...creates(server), connections: CONNECTIONS, seconds: LONG * seconds })).perSecond;
  const found = { free: [] as number[], busy: [] as number[], behind: [] as number[], catchUp: [] as number[] };
  for (const server of [free, busy]) await commits(server);
  await catchUp(busy);
  for (let n = 0; n < rounds; n++) {
    const measured: (readonly [number[], Server])[] = [
      [found.free, free],
      [found.busy, busy],
    ];
    for (const [rates, server] of n % 2 === 0 ? measured : measured.toReversed()) {
      rates.push(await commits(server));
      if (server !== busy) continue;
      found.behind.push(await mostBehind(busy));
      found.catchUp.push(await catchUp(busy));
    }
    const last = Object.entries(found).map(([name, values]) => `${name} ${round(values.at(-1) ?? Number.NaN)}`);
    print(`round ${n + 1} of ${rounds}: ${last.join(", ")}`);
  }
  const runs = { free: summarize(found.free), busy: summarize(found.busy) };
  return [
    { what: `commits, no endpoints, ${CONNECTIONS} connections`, unit: "/s", runs: runs.free },
    {
      what: `commits, ${ENDPOINTS} endpoints that are told all of it`,
      unit: "/s",
      runs: runs.busy,
      against: `**${round(runs.busy.median / runs.free.median)}** of none`,
      note: "target 0.80",
    },
    {
      what: "how far the last endpoint is behind when the commits end",
      unit: "events",
      runs: summarize(found.behind),
    },
    { what: "and until all have everything", unit: "s", runs: summarize(found.catchUp) },
  ];
}

interface Listed {
  readonly data: readonly { readonly lag: number; readonly status: string }[];
}

async function mostBehind(server: Server): Promise<number> {
  const { data } = await call<Listed>(server, "GET", "/v1/webhook_endpoints");
  if (data.some(({ status }) => status !== "enabled")) throw new Error("An endpoint gave up.");
  return Math.max(...data.map(({ lag }) => lag));
}

/** Seconds until nothing waits. */
async function catchUp(server: Server): Promise<number> {
  const start = performance.now();
  while ((await mostBehind(server)) > 0) await pause(50);
  return (performance.now() - start) / 1_000;
}
