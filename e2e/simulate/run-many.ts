import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { addTo, emptyTally, type Tally } from "./tally.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const RUNNER = fileURLToPath(new URL("./runner-process.ts", import.meta.url));
export const SIMULATION = "packages/sdk/src/testing/simulation/run.ts";

/** Where the schedules are run from: the sources themselves, or a copy of them. */
export const ownSimulation = `${ROOT}${SIMULATION}`;

export interface Many {
  readonly file: string;
  readonly seed: number;
  readonly schedules: number;
  readonly processes: number;
  /** Ends each process with the first violation of one of these checks. */
  readonly stopsAt?: readonly string[];
  readonly heard?: (sum: Tally) => void;
}

/** Schedules in processes of their own: one after the other in each, every process its own seeds. */
export async function runMany({ file, seed, schedules, processes, stopsAt = [], heard }: Many): Promise<Tally> {
  const sum = emptyTally();
  const shares = Array.from({ length: Math.min(processes, schedules) }, (_, i) => i);
  await Promise.all(
    shares.map((i) => {
      const many = Math.floor((schedules - i + processes - 1) / processes);
      return runOne([file, seed + i, processes, many, JSON.stringify(stopsAt)].map(String), (tally) => {
        addTo(sum, tally);
        heard?.(sum);
      });
    }),
  );
  return sum;
}

async function runOne(words: readonly string[], heard: (tally: Tally) => void): Promise<void> {
  const flags = ["--conditions=holdfast-source", "--import", "tsx", "--max-semi-space-size=32"];
  const child = spawn(process.execPath, [...flags, RUNNER, ...words], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  for await (const line of createInterface({ input: child.stdout })) heard(JSON.parse(line) as Tally);
  const code = await ended;
  if (code !== 0) throw new Error(`A process that ran schedules ended with ${code}: ${words.join(" ")}`);
}
