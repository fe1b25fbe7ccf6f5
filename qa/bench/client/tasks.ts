import { setTimeout as pause } from "node:timers/promises";
import { percentile } from "../report/statistics.ts";
import type { BenchClient, QueueingClient, Slide } from "./clients.ts";

// What a client is asked to do, whichever client it is.

export type Task =
  /** Each client has one write outstanding. `own`: each follows a deck of its own; otherwise all hear each other. */
  | { readonly name: "writes"; readonly clients: number; readonly seconds: number; readonly own: boolean }
  /** What another program writes is heard by all of the clients. */
  | { readonly name: "heard"; readonly clients: number; readonly seconds: number }
  /** Writes that wait, and go out together, until another client has them. Only the last time counts: those before it warm up the code. */
  | { readonly name: "flush"; readonly writes: number; readonly times: number }
  /** A new client reads everything. Only the last time counts. */
  | { readonly name: "load"; readonly rows: number; readonly times: number };

export type TaskOf<N extends Task["name"]> = Extract<Task, { name: N }>;

export type ClientFigures = Readonly<Record<string, number>>;

type Open<C extends BenchClient> = (deckId?: string) => Promise<C>;

const WARM_SECONDS = 3;
const NOTES = "n".repeat(150);

export const slide = (deckId: string, n: number): Slide => ({ deckId, title: `Slide ${n}`, notes: NOTES });

export const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** `run` is the start of all ids: no other run uses the same. */
export async function writes(
  open: Open<BenchClient>,
  run: string,
  { clients, seconds, own }: TaskOf<"writes">,
): Promise<ClientFigures> {
  const all: BenchClient[] = [];
  for (let i = 0; i < clients; i++) all.push(await open(own ? `${run}-${i}` : undefined));
  let n = 0;
  const delays: number[] = [];
  async function until(end: number): Promise<void> {
    await Promise.all(
      all.map(async (client, i) => {
        while (performance.now() < end) {
          const begun = performance.now();
          await client.write(`${run}-${n++}`, slide(`${run}-${i}`, n));
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
  return {
    perSecond: (sorted.length * 1_000) / took,
    cpuMs: (cpuMs() - cpu) / sorted.length,
    p50: percentile(sorted, 0.5),
  };
}

const HEARD_PER_SECOND = 20;

/** `write` is that of the other program. */
export async function heard(
  open: Open<BenchClient>,
  write: BenchClient["write"],
  { clients, seconds }: TaskOf<"heard">,
): Promise<ClientFigures> {
  const all: BenchClient[] = [];
  for (let i = 0; i < clients; i++) all.push(await open());
  const sentAt = new Map<string, number>();
  const delays: number[] = [];
  for (const client of all)
    client.hear((id) => {
      const at = sentAt.get(id);
      if (at !== undefined) delays.push(performance.now() - at);
    });
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
    await write(id, slide("heard", n));
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

export async function flush(
  open: Open<QueueingClient>,
  run: string,
  { writes: count, times }: TaskOf<"flush">,
): Promise<ClientFigures> {
  let figures: ClientFigures = {};
  for (let time = 0; time < times; time++) {
    const [writer, reader] = await Promise.all([open(), open()]);
    await writer.pause();
    const id = (n: number) => `${run}-${time}-${n}`;
    const [cpu, queueing] = [cpuMs(), performance.now()];
    await Promise.all(Array.from({ length: count }, (_, n) => writer.queue(id(n), slide("flushed", n))));
    const queueMs = performance.now() - queueing;
    const queueCpuMs = (cpuMs() - cpu) / count;
    const begun = performance.now();
    writer.resume();
    for (let n = 0; n < count; ) {
      if (reader.has(id(n))) n++;
      else await pause(1);
    }
    figures = { ms: performance.now() - begun, queueMs, queueCpuMs };
    await Promise.all([writer.close(), reader.close()]);
  }
  return figures;
}

/** `open` returns a client that has all rows. */
export async function load(open: Open<QueueingClient>, { rows, times }: TaskOf<"load">): Promise<ClientFigures> {
  let figures: ClientFigures = {};
  for (let time = 0; time < times; time++) {
    const [cpu, begun] = [cpuMs(), performance.now()];
    const client = await open();
    figures = { perSecond: (rows * 1_000) / (performance.now() - begun), cpuUs: ((cpuMs() - cpu) * 1_000) / rows };
    const count = await client.count();
    if (count < rows) throw new Error(`The client has ${count} of ${rows} rows.`);
    await client.close();
  }
  return figures;
}
