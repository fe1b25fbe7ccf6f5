import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { endProgram, programAt, startProgram } from "../../support/child-program.ts";
import type { Trouble } from "../judge/evidence.ts";
import type { Behaviour, Mood } from "./behaviour.ts";
import type { Order, ReceiverPlan, Report } from "./receiver-process.ts";
import { monotonic } from "./recording.ts";

/** The longest delay before its end is noticed. */
const NOTICED_MS = 300;
const RETRY_MS = 20;

export interface Receiver {
  /** When it was down. */
  readonly absences: readonly Trouble[];
  /** When each of its processes ended; the last one is running. */
  readonly ends: readonly number[];
  addressOf(hook: string): string;
  feel(hook: string, mood: Mood): Promise<void>;
  /** The behaviours of the first requests. */
  script(hook: string, behaviours: readonly Behaviour[]): Promise<void>;
  /** The processes that it kills. */
  senders(pids: readonly number[]): Promise<void>;
  /** Resolves when that hook holds a request, with its name and a function that releases it. */
  holds(hook: string): Promise<Held>;
  kill(): Promise<void>;
  close(): Promise<void>;
}

export interface Held {
  readonly name: string;
  resume(as: Behaviour): Promise<void>;
}

interface Options {
  readonly folder: string;
  readonly seed: number;
  readonly deathsEveryMs?: number;
  /** Called when the receiver has killed the senders. */
  onKilled?(at: number): void;
}

/** A receiver that restarts after each crash, on the same port and with the same moods. */
export async function startReceiver({ folder, seed, deathsEveryMs = 0, onKilled }: Options): Promise<Receiver> {
  const absences: Trouble[] = [];
  const ends: number[] = [];
  const moods = new Map<string, Mood>();
  const asked = new Map<number, () => void>();
  const held = new Map<string, string[]>();
  const waiting = new Map<string, (name: string) => void>();
  let pids: readonly number[] = [];
  let orders = 0;
  let port = 0;
  let closed = false;
  let child!: ChildProcess;
  let back: Promise<void> = Promise.resolve();

  function start(): Promise<void> {
    const generation = ends.length;
    const file = join(folder, `receiver-${generation}.plan.json`);
    writeFileSync(file, JSON.stringify({ folder, generation, port, seed, deathsEveryMs } satisfies ReceiverPlan));
    const next = startProgram(programAt(new URL("./receiver-process.ts", import.meta.url)), [file]);
    child = next;
    let listens = false;
    return new Promise((resolve, reject) => {
      next.once("error", reject);
      next.on("message", (report: Report) => {
        if ("listening" in report) {
          port = report.listening;
          listens = true;
          resolve();
        } else if ("done" in report) asked.get(report.done)?.();
        else if ("held" in report) hold(report.hook, report.held);
        else onKilled?.(report.killed);
      });
      next.once("exit", () => {
        ends.push(monotonic());
        if (!listens) reject(new Error("The receiver ended before it listened."));
        else if (!closed) back = comeBack(monotonic() - NOTICED_MS);
      });
    });
  }

  async function comeBack(from: number): Promise<void> {
    await start();
    // Its orders were lost with the process.
    for (const [hook, mood] of moods) await order({ hook, mood });
    await order({ senders: pids });
    absences.push({ what: "receiver gone", from, to: monotonic() });
  }

  function hold(hook: string, name: string): void {
    const waiter = waiting.get(hook);
    waiting.delete(hook);
    if (waiter) waiter(name);
    else held.set(hook, [...(held.get(hook) ?? []), name]);
  }

  type Wanted = Order extends infer Each ? (Each extends unknown ? Omit<Each, "order"> : never) : never;
  /** False: the process died before it confirmed the order. */
  function order(wanted: Wanted): Promise<boolean> {
    const number = ++orders;
    const to = child;
    return new Promise((resolve) => {
      const end = (heard: boolean) => {
        asked.delete(number);
        to.off("exit", onClose);
        resolve(heard);
      };
      const onClose = () => end(false);
      asked.set(number, () => end(true));
      to.once("exit", onClose);
      to.send({ ...wanted, order: number } as Order, (error) => error && onClose());
    });
  }

  /** Repeats the order until it is confirmed. */
  async function insist(wanted: Wanted): Promise<void> {
    for (;;) {
      await back;
      if (await order(wanted)) return;
      await pause(RETRY_MS);
    }
  }

  await start();
  return {
    absences,
    ends,
    addressOf: (hook) => `http://127.0.0.1:${port}/hooks/${hook}`,
    feel(hook, mood) {
      moods.set(hook, mood);
      return insist({ hook, mood });
    },
    script: (hook, behaviours) => insist({ hook, script: behaviours }),
    senders(next) {
      pids = next;
      return insist({ senders: next });
    },
    async holds(hook) {
      const [first, ...rest] = held.get(hook) ?? [];
      held.set(hook, rest);
      const name = first ?? (await new Promise<string>((resolve) => waiting.set(hook, resolve)));
      return { name, resume: async (as) => void (await order({ release: name, as })) };
    },
    async kill() {
      await back;
      await endProgram(child);
      await back;
    },
    async close() {
      closed = true;
      await back.catch(() => {});
      await endProgram(child);
    },
  };
}
