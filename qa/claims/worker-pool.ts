import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { endProgram, programAt, startProgram } from "../support/child-program.ts";
import type { Plan } from "./plan.ts";

/** The processes of claimants. A killed one restarts with another name and the same participants. */
export interface WorkerPool {
  readonly size: number;
  /** Requests answered so far. */
  count(): number;
  kill(which: number): Promise<void>;
  /** Suspends the process for a while, and resumes it. */
  stop(which: number, forMs: number): Promise<void>;
  /** Ends when each of its claimants has its last answer. */
  finish(): Promise<void>;
  end(): Promise<void>;
}

type Seat = {
  readonly plan: Omit<Plan, "name">;
  child: ChildProcess;
  generation: number;
  before: number;
  answered: number;
};

export function startWorkerPool(plans: readonly Omit<Plan, "name">[]): WorkerPool {
  const slots = plans.map(
    (plan, which): Seat => ({ plan, child: start(plan, which, 0), generation: 0, before: 0, answered: 0 }),
  );
  for (const seat of slots) receive(seat);

  function receive(seat: Seat): void {
    seat.child.on("message", (count) => {
      seat.answered = Number(count);
    });
  }

  const seatOf = (which: number) => slots[which] as Seat;
  return {
    size: slots.length,
    count: () => slots.reduce((sum, { before, answered }) => sum + before + answered, 0),
    async kill(which) {
      const seat = seatOf(which);
      await endProgram(seat.child);
      seat.before += seat.answered;
      seat.answered = 0;
      seat.generation += 1;
      seat.child = start(seat.plan, which, seat.generation);
      receive(seat);
    },
    async stop(which, forMs) {
      const { child } = seatOf(which);
      child.kill("SIGSTOP");
      await new Promise((resolve) => setTimeout(resolve, forMs));
      child.kill("SIGCONT");
    },
    async finish() {
      await Promise.all(
        slots.map(async ({ child }) => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const gone = once(child, "exit");
          child.send("finish");
          await gone;
        }),
      );
    },
    end: async () => void (await Promise.all(slots.map(({ child }) => endProgram(child)))),
  };
}

function start(plan: Omit<Plan, "name">, which: number, generation: number): ChildProcess {
  const name = `${which}x${generation}`;
  const file = join(plan.folder, `${name}.plan.json`);
  writeFileSync(file, JSON.stringify({ ...plan, name, seed: plan.seed + generation * 7919 }), { mode: 0o600 });
  return startProgram(programAt(new URL("./claimant-process.ts", import.meta.url)), [file]);
}
