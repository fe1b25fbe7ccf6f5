import { readFileSync } from "node:fs";

const TICKS = 100;

/** What a process has used of a processor since it began, as Linux counts. 0: it has ended. */
export function cpuSecondsOf(pid: number): number {
  try {
    const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
    const fields = rest.split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  } catch {
    return 0;
  }
}
