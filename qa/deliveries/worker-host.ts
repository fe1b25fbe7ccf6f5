import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fromSources } from "@holdfast/server/testing/source-program";
import type { Reply, Wish } from "./house-process.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import type { Senders } from "./senders.ts";
import type { SenderPlan } from "./server-process.ts";

const PROGRAM = fileURLToPath(new URL("./house-process.ts", import.meta.url));

/** A receiver and a process of servers for many places at once, where nobody is killed. */
export interface WorkerHost {
  /** Where the receiver writes. */
  readonly folder: string;
  readonly receiver: Receiver;
  start(count: number, plan: SenderPlan): Promise<Senders>;
  close(): Promise<void>;
}

export async function openWorkerHost(): Promise<WorkerHost> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-deliveries-"));
  const receiver = await startReceiver({ folder, seed: 1 });
  const child = fork(PROGRAM, {
    execArgv: [...fromSources(PROGRAM).flags],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "" },
  });
  const waiting = new Map<number, (reply: Reply) => void>();
  let wishes = 0;
  child.on("message", (reply: Reply) => waiting.get(reply.number)?.(reply));

  type Wanted = Wish extends infer Each ? (Each extends unknown ? Omit<Each, "number"> : never) : never;
  function wish(wanted: Wanted): Promise<Reply> {
    const number = ++wishes;
    return new Promise((resolve, reject) => {
      waiting.set(number, (reply) => {
        waiting.delete(number);
        if (reply.error === undefined) resolve(reply);
        else reject(new Error(reply.error));
      });
      child.send({ ...wanted, number } as Wish);
    });
  }

  let starting: Promise<unknown> = Promise.resolve();
  /** One after the other: loading a copy of the sources keeps all others waiting. */
  function startOne(plan: SenderPlan): Promise<Reply> {
    const next = starting.then(() => wish({ start: plan }));
    starting = next.catch(() => {});
    return next;
  }

  return {
    folder,
    receiver,
    async start(count, plan) {
      const started: Reply[] = [];
      for (let i = 0; i < count; i++) started.push(await startOne(plan));
      return {
        troubles: [],
        urls: () => started.map(({ url }) => String(url)),
        kill: never,
        restart: never,
        freeze: never,
        wereKilled: never,
        stop: never,
        killPostgres: never,
        close: async () => void (await Promise.all(started.map(({ number }) => wish({ stop: number })))),
      };
    },
    async close() {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await gone;
      await receiver.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const never = () => {
  throw new Error("Servers of a house share a process: nobody kills one of them.");
};
