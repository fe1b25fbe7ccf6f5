// One side of a comparison in a process of its own, so that its CPU time is its own. Does one task, and prints what came of
// it as JSON.
import { Agent } from "node:http";
import { bareClient, creating, type Place, post, sdkClient } from "./clients.ts";
import { type ClientFigures, cpuMs, flush, heard, load, slide, type Task, type TaskOf, writes } from "./tasks.ts";

/** The SDK, or bare requests: by `node:http`, which costs the least in Node, or by `fetch`. */
export type Side = "sdk" | "http" | "fetch";

export interface ClientPlan extends Place {
  readonly side: Side;
  readonly task: Task;
  /** Of this run: no other run uses the same ids. */
  readonly run: string;
}

const plan = JSON.parse(process.argv[2] ?? "{}") as ClientPlan;
const open = (deckId?: string) => (plan.side === "sdk" ? sdkClient(plan, deckId) : bareClient(plan, deckId, plan.side));

function perform(task: Task): Promise<ClientFigures> {
  switch (task.name) {
    case "writes":
      return writes(open, plan.run, task);
    case "heard": {
      const agent = new Agent({ keepAlive: true });
      return heard(open, (id, data) => post(agent, plan, [creating(id, data)]), task);
    }
    case "flush":
      return plan.side === "sdk" ? flush(() => sdkClient(plan), plan.run, task) : bareFlush(task);
    case "load":
      return plan.side === "sdk" ? load(() => sdkClient(plan, undefined, "complete"), task) : bareLoad(task);
  }
}

async function bareFlush({ writes: count, times }: TaskOf<"flush">): Promise<ClientFigures> {
  let ms = 0;
  for (let time = 0; time < times; time++) {
    const reader = await bareClient(plan);
    const agent = new Agent({ keepAlive: true });
    const id = (n: number) => `${plan.run}-${time}-${n}`;
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

async function bareLoad({ rows, times }: TaskOf<"load">): Promise<ClientFigures> {
  let figures: ClientFigures = {};
  for (let time = 0; time < times; time++) {
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
