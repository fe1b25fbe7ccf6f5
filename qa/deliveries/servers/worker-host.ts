import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fromSources } from "@holdfast/server/testing/source-program";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import type { HostReply, HostRequest } from "./host-process.ts";
import type { Senders } from "./senders.ts";
import type { SenderPlan } from "./server-process.ts";

const PROGRAM = fileURLToPath(new URL("./host-process.ts", import.meta.url));

/** A receiver and a server process that many test environments share. No server is killed. */
export interface WorkerHost {
  /** The folder of the receiver's files. */
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
  const waiting = new Map<number, (reply: HostReply) => void>();
  let requestCount = 0;
  child.on("message", (reply: HostReply) => waiting.get(reply.number)?.(reply));

  type Wanted = HostRequest extends infer Each ? (Each extends unknown ? Omit<Each, "number"> : never) : never;
  function send(wanted: Wanted): Promise<HostReply> {
    const number = ++requestCount;
    return new Promise((resolve, reject) => {
      waiting.set(number, (reply) => {
        waiting.delete(number);
        if (reply.error === undefined) resolve(reply);
        else reject(new Error(reply.error));
      });
      child.send({ ...wanted, number } as HostRequest);
    });
  }

  let starting: Promise<unknown> = Promise.resolve();
  /** Starts servers one after the other, because loading the sources blocks the process. */
  function startOne(plan: SenderPlan): Promise<HostReply> {
    const next = starting.then(() => send({ start: plan }));
    starting = next.catch(() => {});
    return next;
  }

  return {
    folder,
    receiver,
    async start(count, plan) {
      const started: HostReply[] = [];
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
        close: async () => void (await Promise.all(started.map(({ number }) => send({ stop: number })))),
      };
    },
    async close() {
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await exited;
      await receiver.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const never = () => {
  throw new Error("These servers share a process, so a single one cannot be killed.");
};
