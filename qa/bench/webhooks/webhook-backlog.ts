import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { summarize } from "../report/statistics.ts";
import { type Row, round } from "../report/table.ts";
import { startProgram, wholeOutput } from "../stage/processes.ts";
import type { Options, Stage } from "../stage/stage.ts";
import type { Arrived } from "./webhook-receiver.ts";
import { call, type Receiver, register, type Server, startReceiver } from "./webhook-stage.ts";

const BACKLOG = 50_000;

/** A backlog to one endpoint that answers in a millisecond, beside its bodies sent by a bare client. */
export async function measureBacklog(stage: Stage, { rounds, print }: Options): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-bench-bodies-"));
  const receiver = await startReceiver({ answerMs: 1, hanging: "" });
  try {
    const server = await stage.server({ database: "backlog" });
    print(`filling a log with ${BACKLOG.toLocaleString("en-US")} entries`);
    await fill(server, BACKLOG);
    const file = join(dir, "bodies.json");
    const found = { sent: [] as number[], floor: [] as number[] };
    // The first one is not counted: it warms up, and its bodies are kept.
    for (let n = 0; n <= rounds; n++) {
      await receiver.request(n === 0 ? "/keep" : "/reset");
      const sent = await deliverBacklog(server, receiver, `/backlog-${n}`);
      if (n === 0) {
        await receiver.request(`/kept?${encodeURIComponent(file)}`);
        continue;
      }
      const floor = await wholeOutput<{ seconds: number; requests: number }>(
        startProgram(new URL("post-bodies.ts", import.meta.url), [
          JSON.stringify({ url: `${receiver.url}/floor-${n}`, file }),
        ]),
      );
      found.sent.push(BACKLOG / sent);
      found.floor.push(BACKLOG / floor.seconds);
      print(`round ${n} of ${rounds}: ${round(BACKLOG / sent)} events/s, floor ${round(BACKLOG / floor.seconds)}`);
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
    await receiver[Symbol.asyncDispose]();
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

const eventsAt = (arrived: readonly Arrived[], address: string): number =>
  arrived.find((one) => one.address === address)?.events ?? 0;
