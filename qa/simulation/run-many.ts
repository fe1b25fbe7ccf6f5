import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { addTo, emptyTotals, type Totals } from "./totals.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const RUNNER = fileURLToPath(new URL("./runner-process.ts", import.meta.url));
export const SIMULATION = "qa/simulation/model/run.ts";

/** Where the schedules are run from: the sources themselves, or a copy of them. */
export const ownSimulation = `${ROOT}${SIMULATION}`;

export interface Many {
  readonly file: string;
  readonly seed: number;
  readonly schedules: number;
  readonly processes: number;
  /** Ends each process with the first violation of one of these checks. */
  readonly stopsAt?: readonly string[];
  readonly onTotals?: (sum: Totals) => void;
}

/** Schedules in processes of their own: one after the other in each, every process its own seeds. */
export async function runMany({ file, seed, schedules, processes, stopsAt = [], onTotals }: Many): Promise<Totals> {
  const sum = emptyTotals();
  const shares = Array.from({ length: Math.min(processes, schedules) }, (_, i) => i);
  await Promise.all(
    shares.map((i) => {
      const many = Math.floor((schedules - i + processes - 1) / processes);
      return runOne([file, seed + i, processes, many, JSON.stringify(stopsAt)].map(String), (totals) => {
        addTo(sum, totals);
        onTotals?.(sum);
      });
    }),
  );
  return sum;
}

async function runOne(args: readonly string[], onTotals: (totals: Totals) => void): Promise<void> {
  const flags = ["--conditions=holdfast-source", "--import", "tsx", "--max-semi-space-size=32"];
  const child = spawn(process.execPath, [...flags, RUNNER, ...args], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  for await (const line of createInterface({ input: child.stdout })) onTotals(JSON.parse(line) as Totals);
  const code = await ended;
  if (code !== 0) throw new Error(`A process that ran schedules ended with ${code}: ${args.join(" ")}`);
}
