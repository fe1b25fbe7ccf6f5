// One side of a comparison in a process of its own, so that its CPU time is its own. Does one task, and prints what came of
// it as JSON.
import { Agent } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { createClient } from "@holdfast/sdk/node";
import { percentile } from "../report/statistics.ts";
import { type BenchClient, bareClient, creating, type Place, post, type Slide, sdkClient } from "./clients.ts";
import { slideSchema as schema } from "./slide-schema.ts";

/** The SDK, or bare requests: by `node:http`, which costs the least in Node, or by `fetch`. */
export type Side = "sdk" | "http" | "fetch";

export type Task =
  /** Each client has one write outstanding. `own`: each follows a deck of its own; otherwise all hear each other. */
  | { readonly name: "writes"; readonly clients: number; readonly seconds: number; readonly own: boolean }
  /** What another program writes is heard by all of the clients. */
  | { readonly name: "heard"; readonly clients: number; readonly seconds: number }
  /** Writes that wait, and go out together, until another client has them. */
  | { readonly name: "flush"; readonly writes: number }
  /** A new client reads everything. */
  | { readonly name: "load"; readonly rows: number };

export interface ClientPlan extends Place {
  readonly side: Side;
  readonly task: Task;
  /** Of this run: no other run uses the same ids. */
  readonly run: string;
}

export type ClientFigures = Readonly<Record<string, number>>;

const WARM_SECONDS = 3;
const NOTES = "n".repeat(150);

const plan = JSON.parse(process.argv[2] ?? "{}") as ClientPlan;
const open = (deckId?: string) => (plan.side === "sdk" ? sdkClient(plan, deckId) : bareClient(plan, deckId, plan.side));

function perform(task: Task): Promise<ClientFigures> {
  switch (task.name) {
    case "writes":
      return writes(task);
    case "heard":
      return heard(task);
    case "flush":
      return plan.side === "sdk" ? flush(task.writes) : bareFlush(task.writes);
    case "load":
      return plan.side === "sdk" ? load(task.rows) : bareLoad(task.rows);
  }
}

const slide = (deckId: string, n: number): Slide => ({ deckId, title: `Slide ${n}`, notes: NOTES });
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

async function writes({ clients, seconds, own }: Extract<Task, { name: "writes" }>): Promise<ClientFigures> {
  const all: BenchClient[] = [];
  for (let i = 0; i < clients; i++) all.push(await open(own ? `${plan.run}-${i}` : undefined));
  let n = 0;
  const delays: number[] = [];
  async function until(end: number): Promise<void> {
    await Promise.all(
      all.map(async (client, i) => {
        while (performance.now() < end) {
          const begun = performance.now();
          await client.write(`${plan.run}-${n++}`, slide(`${plan.run}-${i}`, n));
          delays.push(performance.now() - begun);
        }
      }),
    );
  }
  await until(performance.now() + WARM_SECONDS * 1_000);
  delays.length = 0;
  const [cpu, begun] = [cpuMs(), performance.now()];
  await until(begun + seconds * 1_000);
  const took = performance.now() - begun;
  const sorted = delays.sort((a, b) => a - b);
  const figures = {
    perSecond: (sorted.length * 1_000) / took,
    cpuMs: (cpuMs() - cpu) / sorted.length,
    p50: percentile(sorted, 0.5),
  };
  return figures;
}

const HEARD_PER_SECOND = 20;

async function heard({ clients, seconds }: Extract<Task, { name: "heard" }>): Promise<ClientFigures> {
  const all: BenchClient[] = [];
  for (let i = 0; i < clients; i++) all.push(await open());
  const sentAt = new Map<string, number>();
  const delays: number[] = [];
  for (const client of all)
    client.hear((id) => {
      const at = sentAt.get(id);
      if (at !== undefined) delays.push(performance.now() - at);
    });
  const agent = new Agent({ keepAlive: true });
  const warm = WARM_SECONDS * HEARD_PER_SECOND;
  const count = warm + seconds * HEARD_PER_SECOND;
  let cpu = 0;
  for (let n = 0; n < count; n++) {
    if (n === warm) {
      delays.length = 0;
      cpu = cpuMs();
    }
    const id = `h${n}`;
    sentAt.set(id, performance.now());
    await post(agent, plan, [creating(id, slide("heard", n))]);
    await pause(1_000 / HEARD_PER_SECOND);
  }
  while (delays.length < clients * (count - warm)) await pause(5);
  const sorted = delays.sort((a, b) => a - b);
  return {
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    cpuMs: (cpuMs() - cpu) / (count - warm),
  };
}

/** Only the last round counts: those before it warm up the code. */
const ROUNDS = 4;

async function flush(count: number): Promise<ClientFigures> {
  let figures: ClientFigures = {};
  for (let round = 0; round < ROUNDS; round++) {
    const made = { schema, url: plan.url, getToken: () => plan.token };
    const [writer, reader] = [createClient(made), createClient(made)];
    await Promise.all([writer.ready(), reader.ready()]);
    writer.pause();
    const id = (n: number) => `${plan.run}-${round}-${n}`;
    const cpu = cpuMs();
    const queued = Array.from({ length: count }, (_, n) => {
      return writer.models.slide.create(slide("flushed", n), { id: id(n) }).queued;
    });
    await Promise.all(queued);
    const queueCpuMs = (cpuMs() - cpu) / count;
    const begun = performance.now();
    writer.resume();
    while (!reader.models.slide.get(id(count - 1))) await pause(1);
    figures = { ms: performance.now() - begun, queueCpuMs };
    await Promise.all([writer.drain({ timeoutMs: 60_000 }), reader.close()]);
    await writer.close();
  }
  return figures;
}

async function bareFlush(count: number): Promise<ClientFigures> {
  let ms = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const reader = await bareClient(plan);
    const agent = new Agent({ keepAlive: true });
    const id = (n: number) => `${plan.run}-${round}-${n}`;
    const commits = Array.from({ length: count }, (_, n) => creating(id(n), slide("flushed", n)));
    const begun = performance.now();
    const arrived = new Promise<void>((resolve) => reader.hear((heardId) => heardId === id(count - 1) && resolve()));
    for (let n = 0; n < count; n += 100) await post(agent, plan, commits.slice(n, n + 100));
    await arrived;
    ms = performance.now() - begun;
    await reader.close();
  }
  return { ms };
}

async function load(rows: number): Promise<ClientFigures> {
  let figures: ClientFigures = {};
  for (let round = 0; round < ROUNDS; round++) {
    const [cpu, begun] = [cpuMs(), performance.now()];
    const client = createClient({ schema, url: plan.url, getToken: () => plan.token });
    await client.ready({ rows: "complete" });
    figures = { perSecond: (rows * 1_000) / (performance.now() - begun), cpuUs: ((cpuMs() - cpu) * 1_000) / rows };
    const { length } = client.models.slide.list();
    if (length < rows) throw new Error(`The client has ${length} of ${rows} rows.`);
    await client.close();
  }
  return figures;
}

async function bareLoad(rows: number): Promise<ClientFigures> {
  let figures: ClientFigures = {};
  for (let round = 0; round < ROUNDS; round++) {
    const [cpu, begun] = [cpuMs(), performance.now()];
    let count = 0;
    let cursor: string | null = null;
    do {
      const after: string = cursor === null ? "" : `&starting_after=${encodeURIComponent(cursor)}`;
      const answer = await fetch(`${plan.url}/v1/snapshot?model=slide&limit=10000${after}`, {
        headers: { authorization: `Bearer ${plan.token}`, "accept-encoding": "identity" },
      });
      const lines = (await answer.text()).trimEnd().split("\n");
      const parsed = lines.map((line) => JSON.parse(line));
      count += parsed.length - 2;
      cursor = parsed.at(-1).next_cursor;
    } while (cursor !== null);
    figures = { perSecond: (rows * 1_000) / (performance.now() - begun), cpuUs: ((cpuMs() - cpu) * 1_000) / rows };
    if (count < rows) throw new Error(`${count} of ${rows} rows came.`);
  }
  return figures;
}

process.stdout.write(`${JSON.stringify(await perform(plan.task))}\n`, () => process.exit(0));
