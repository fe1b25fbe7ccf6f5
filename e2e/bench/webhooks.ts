import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { rssMegabytes } from "./memory.ts";
import { endProgram, firstLine, startProgram, wholeOutput } from "./processes.ts";
import type { ServerReady } from "./server.ts";
import { openStage, type RunningProgram, runLoad, type Stage } from "./stage.ts";
import { percentile, summarize } from "./statistics.ts";
import { type Row, round } from "./table.ts";
import type { Arrived, ReceiverPlan } from "./webhook-receiver.ts";

const BACKLOG = 50_000;
const ENDPOINTS = 20;
const CONNECTIONS = 64;
const COMMITS_PER_SECOND = 100;
/** How long commits go on beside endpoints, as a multiple of a run. */
const LONG = 4;

/** About 1.05 KB. */
const create = JSON.stringify({
  id: "s[<id>]",
  idempotencyKey: "k[<id>]",
  data: { deckId: "deck-1", title: "A slide", order: 3, notes: "n".repeat(850) },
});

interface Options {
  readonly rounds: number;
  readonly seconds: number;
  say(line: string): void;
}

type Server = RunningProgram & ServerReady;

/** How fast the log reaches one endpoint, whether one that hangs is felt by others, and what twenty cost the commits. */
export async function measureWebhooks(options: Options): Promise<Row[]> {
  const stage = await openStage();
  try {
    return [
      ...(await throughput(stage, options)),
      ...(await besideOneThatHangs(stage, options)),
      ...(await commitsBeside(stage, options)),
    ];
  } finally {
    await stage.close();
  }
}

/** A backlog to one endpoint that answers in a millisecond, beside its bodies sent by a bare client. */
async function throughput(stage: Stage, { rounds, say }: Options): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-bench-bodies-"));
  const receiver = await startReceiver({ answerMs: 1, hanging: "" });
  try {
    const server = await stage.server({ databaseUrl: await stage.database("backlog"), organizations: 1 });
    say(`filling a log with ${BACKLOG.toLocaleString("en-US")} entries`);
    await fill(server, BACKLOG);
    const file = join(dir, "bodies.json");
    const found = { sent: [] as number[], floor: [] as number[] };
    // The first one is not counted: it warms up, and its bodies are kept.
    for (let n = 0; n <= rounds; n++) {
      await receiver.ask(n === 0 ? "/keep" : "/reset");
      const sent = await deliverBacklog(server, receiver, `/backlog-${n}`);
      if (n === 0) {
        await receiver.ask(`/kept?${encodeURIComponent(file)}`);
        continue;
      }
      const floor = await wholeOutput<{ seconds: number; requests: number }>(
        startProgram(new URL("post-bodies.ts", import.meta.url), [
          JSON.stringify({ url: `${receiver.url}/floor-${n}`, file }),
        ]),
      );
      found.sent.push(BACKLOG / sent);
      found.floor.push(BACKLOG / floor.seconds);
      say(`round ${n} of ${rounds}: ${round(BACKLOG / sent)} events/s, floor ${round(BACKLOG / floor.seconds)}`);
    }
    const [sent, floor] = [summarize(found.sent), summarize(found.floor)];
    return [
      {
        what: "floor: the same bodies of 100 events, one after the other, by a bare client",
        unit: "events/s",
        runs: floor,
      },
      {
        what: `webhooks: a backlog of ${BACKLOG.toLocaleString("en-US")} events to an endpoint that answers in 1 ms`,
        unit: "events/s",
        runs: sent,
        against: `${round(sent.median / floor.median)} of the floor`,
        note: "target 5 000/s",
      },
    ];
  } finally {
    await receiver.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Seconds from the registration until everything had arrived. */
async function deliverBacklog(server: Server, receiver: Receiver, address: string): Promise<number> {
  const start = performance.now();
  const id = await register(server, receiver.url + address, 0);
  const all = (await receiver.until((arrived) => eventsAt(arrived, address) >= BACKLOG)) as readonly Arrived[];
  const seconds = (performance.now() - start) / 1_000;
  if (eventsAt(all, address) !== BACKLOG) throw new Error(`${eventsAt(all, address)} events of ${BACKLOG} came.`);
  await call(server, "DELETE", `/v1/webhook_endpoints/${id}`);
  return seconds;
}

/** Twenty endpoints of which one never answers: how long it takes from a commit's sending until the others have it. */
async function besideOneThatHangs(stage: Stage, { rounds, seconds, say }: Options): Promise<Row[]> {
  const hanging = "/hook-0";
  const receiver = await startReceiver({ answerMs: 0, hanging });
  try {
    const server = await stage.server({ databaseUrl: await stage.database("hanging"), organizations: 1 });
    for (let i = 0; i < ENDPOINTS; i++) await register(server, `${receiver.url}/hook-${i}`);
    const found = { p50: [] as number[], p99: [] as number[] };
    for (let n = 0; n <= rounds; n++) {
      await receiver.ask("/reset");
      const sentAt = await commitSteadily(server, LONG * seconds, `h${n}`);
      const last = Math.max(...sentAt.keys());
      const isThere = ({ deliveries }: Arrived) => deliveries.some(([, to]) => to >= last);
      const all = await receiver.until((arrived) => arrived.filter(isThere).length >= ENDPOINTS - 1, "/deliveries");
      const lags = all
        .flatMap(({ deliveries }) => deliveries.flatMap((one) => lagsOf(one, sentAt)))
        .sort((a, b) => a - b);
      if (lags.length < (ENDPOINTS - 1) * sentAt.size) throw new Error(`Only ${lags.length} arrivals.`);
      if (n === 0) continue;
      found.p50.push(percentile(lags, 0.5));
      found.p99.push(percentile(lags, 0.99));
      say(
        `round ${n} of ${rounds}: lag p50 ${round(percentile(lags, 0.5))} ms, p99 ${round(percentile(lags, 0.99))} ms`,
      );
    }
    const what = `webhooks: commit sent → at ${ENDPOINTS - 1} endpoints beside one that hangs, ${COMMITS_PER_SECOND} commits/s`;
    return [
      { what: `${what}, p50`, unit: "ms", runs: summarize(found.p50) },
      { what: `${what}, p99`, unit: "ms", runs: summarize(found.p99), note: "target 1 000 ms" },
    ];
  } finally {
    await receiver.stop();
  }
}

function lagsOf([from, to, at]: Arrived["deliveries"][number], sentAt: ReadonlyMap<number, number>): number[] {
  const lags: number[] = [];
  for (let position = from; position <= to; position++) {
    const sent = sentAt.get(position);
    if (sent !== undefined) lags.push(at - sent);
  }
  return lags;
}

/** Commits as fast as they are answered, with twenty endpoints and with none, and the server's memory meanwhile. */
async function commitsBeside(stage: Stage, { rounds, seconds, say }: Options): Promise<Row[]> {
  const receiver = await startReceiver({ answerMs: 0, hanging: "" });
  try {
    const free = await stage.server({ databaseUrl: await stage.database("untold"), organizations: 1 });
    const told = await stage.server({ databaseUrl: await stage.database("told"), organizations: 1 });
    for (let i = 0; i < ENDPOINTS; i++) await register(told, `${receiver.url}/hook-${i}`);
    const commits = async ({ url, tokens }: Server) =>
      (
        await runLoad({
          url,
          connections: CONNECTIONS,
          seconds: LONG * seconds,
          requests: [{ path: "/v1/models/slide", token: tokens[0] as string, body: create }],
        })
      ).perSecond;
    const found = { free: [] as number[], told: [] as number[], behind: [] as number[], catchUp: [] as number[] };
    const memory: number[][] = [];
    for (const server of [free, told]) await commits(server);
    await catchUp(told);
    for (let n = 0; n < rounds; n++) {
      const measured: (readonly [number[], Server])[] = [
        [found.free, free],
        [found.told, told],
      ];
      for (const [rates, server] of n % 2 === 0 ? measured : measured.toReversed()) {
        const samples = server === told ? watchMemory(told) : undefined;
        rates.push(await commits(server));
        if (server !== told) continue;
        found.behind.push(await mostBehind(told));
        found.catchUp.push(await catchUp(told));
        memory.push(samples?.stop() ?? []);
      }
      const last = Object.entries(found).map(([name, values]) => `${name} ${round(values.at(-1) ?? Number.NaN)}`);
      say(`round ${n + 1} of ${rounds}: ${last.join(", ")}, memory ${round(summarize(memory.at(-1) ?? []).median)} MB`);
    }
    const runs = { free: summarize(found.free), told: summarize(found.told) };
    const [first, last] = [summarize(memory[0] ?? []), summarize(memory.at(-1) ?? [])];
    return [
      { what: `commits, no endpoints, ${CONNECTIONS} connections`, unit: "/s", runs: runs.free },
      {
        what: `commits, ${ENDPOINTS} endpoints that are told all of it`,
        unit: "/s",
        runs: runs.told,
        against: `**${round(runs.told.median / runs.free.median)}** of none`,
        note: "target 0.80",
      },
      {
        what: "how far the last endpoint is behind when the commits end",
        unit: "events",
        runs: summarize(found.behind),
      },
      { what: "and until all have everything", unit: "s", runs: summarize(found.catchUp) },
      { what: "server's memory in the first of these rounds", unit: "MB", runs: first },
      {
        what: `the same in the last of ${rounds}`,
        unit: "MB",
        runs: last,
        against: `${round(last.median / first.median)} of the first`,
      },
    ];
  } finally {
    await receiver.stop();
  }
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

function watchMemory({ child }: Server) {
  const samples: number[] = [];
  const timer = setInterval(() => samples.push(rssMegabytes(child.pid as number)), 250);
  return {
    stop: () => {
      clearInterval(timer);
      return samples;
    },
  };
}

/** One after the other at an even pace, however long answers take. Answers when which position was sent. */
async function commitSteadily(server: Server, seconds: number, prefix: string): Promise<Map<number, number>> {
  const sentAt = new Map<number, number>();
  const sent: Promise<unknown>[] = [];
  const start = performance.now();
  for (let n = 0; n < seconds * COMMITS_PER_SECOND; n++) {
    const wait = start + (n * 1_000) / COMMITS_PER_SECOND - performance.now();
    if (wait > 0) await pause(wait);
    const at = Number(process.hrtime.bigint()) / 1e6;
    const body = { id: `${prefix}-${n}`, data: { deckId: "deck-1", title: "Told", notes: "n".repeat(850) } };
    sent.push(
      call<{ lastSyncId: number }>(server, "POST", "/v1/models/slide", body).then(({ lastSyncId }) =>
        sentAt.set(lastSyncId, at),
      ),
    );
  }
  await Promise.all(sent);
  return sentAt;
}

async function fill(server: Server, count: number): Promise<void> {
  for (let made = 0; made < count; made += 1_000) {
    const commits = Array.from({ length: 10 }, (_, i) => ({
      clientTxId: `fill-${made}-${i}`,
      operations: Array.from({ length: 100 }, (_, n) => ({
        action: "create",
        model: "slide",
        id: `fill-${made + i * 100 + n}`,
        data: { deckId: "deck-1", title: "A slide", order: n, notes: "n".repeat(150) },
      })),
    }));
    await call(server, "POST", "/v1/commits/bulk", { commits });
  }
}

const register = async (server: Server, url: string, from?: number): Promise<string> =>
  (await call<{ id: string }>(server, "POST", "/v1/webhook_endpoints", { url, ...(from !== undefined && { from }) }))
    .id;

async function call<T>({ url, tokens }: ServerReady, method: string, path: string, body?: object): Promise<T> {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${tokens[0]}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
}

interface Receiver {
  readonly url: string;
  ask(path: string): Promise<readonly Arrived[]>;
  until(isSo: (arrived: readonly Arrived[]) => boolean, path?: string): Promise<readonly Arrived[]>;
  stop(): Promise<void>;
}

const PATIENCE_MS = 120_000;

async function startReceiver(plan: ReceiverPlan): Promise<Receiver> {
  const child = startProgram(new URL("webhook-receiver.ts", import.meta.url), [JSON.stringify(plan)]);
  const { url } = await firstLine<{ url: string }>(child);
  const ask = async (path: string) => (await (await fetch(url + path)).json()) as readonly Arrived[];
  return {
    url,
    ask,
    async until(isSo, path = "/counts") {
      const end = performance.now() + PATIENCE_MS;
      for (;;) {
        const arrived = await ask(path);
        if (isSo(arrived)) return arrived;
        if (performance.now() > end) throw new Error("Not everything arrived.");
        await pause(20);
      }
    },
    stop: () => endProgram(child),
  };
}

const eventsAt = (arrived: readonly Arrived[], address: string): number =>
  arrived.find((one) => one.address === address)?.events ?? 0;
