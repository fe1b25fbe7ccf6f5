import { readFileSync } from "node:fs";
import { endProgram, firstLine, startProgram } from "../stage/processes.ts";
import type { IdlePlan } from "./idle-sockets.ts";

/** Opens idle sockets, one program for each plan, and resolves when all are welcomed. One of each token, unless told otherwise. */
export async function openIdle(plans: readonly (Omit<IdlePlan, "sockets"> & { sockets: number | undefined })[]) {
  const programs = plans.map(({ sockets, ...plan }) =>
    startProgram(new URL("idle-sockets.ts", import.meta.url), [
      JSON.stringify({ ...plan, sockets: sockets ?? plan.tokens.length } satisfies IdlePlan),
    ]),
  );
  await Promise.all(programs.map((program) => firstLine(program)));
  return { close: () => Promise.all(programs.map(endProgram)) };
}

/** In kilobytes, as Linux counts. */
export const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
