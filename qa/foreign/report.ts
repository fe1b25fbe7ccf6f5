import { availableParallelism } from "node:os";
import { type Line, report as written } from "../support/report.ts";
import type { Findings } from "./run.ts";

/** How much slower another tenant may be while values are odd, at its slowest hundredth. */
const MOST_RATIO = 3;

/** The time below which 99 of 100 stay. */
export const p99 = (times: readonly number[] = []): number => quantile(times, 0.99);

const quantile = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;

/**
 * Whether the neighbour was not delayed too much. On few cores it waits for the CPU that Postgres takes to read the rows,
 * whatever the server does: there it is only reported.
 */
export const isNeighbourly = (findings: Findings): boolean =>
  availableParallelism() < ENOUGH_CORES || ratioOf(findings) <= MOST_RATIO;

/** The server, the neighbour, the owner's service, the run, and Postgres' processes for two tenants. */
const ENOUGH_CORES = 8;

export const ratioOf = ({ times }: Findings): number => p99(times.odd) / p99(times.quiet);

const percent = (share: number | undefined) => (share === undefined ? "?" : `${Math.round(share * 100)} %`);

const ms = (value: number) => `${value.toFixed(1)} ms`;

export function report(findings: Findings): string {
  const { times, answers, oddAnswers, violations } = findings;
  const counted = (counts: Iterable<readonly [string, number]>): Line[] =>
    [...counts].sort(([a], [b]) => a.localeCompare(b)).map(([what, n]) => [`  ${what}`, n]);
  const lines: readonly Line[] = [
    ["statements of SQL", findings.statements],
    ["  refused by Postgres itself", findings.refused],
    ["entries that followers received", findings.entries],
    ["odd answers of the owner's service", Object.values(oddAnswers).reduce((sum, n) => sum + n, 0)],
    ...counted(Object.entries(oddAnswers)),
    ["answers to the tenants' own clients", [...answers.values()].reduce((sum, n) => sum + n, 0)],
    ...counted(answers),
    ["commands with odd files", findings.files.tried],
    ["longest time in which a small record could not be read", ms(findings.longestUnreadableMs)],
    ["until nothing was left, by round", findings.settleMs.map(ms).join(", ")],
    ...["quiet", "beside", "odd"].map(
      (phase): Line => [
        `the neighbour's ${times[phase]?.length ?? 0} requests, ${phase}: half, p99, slowest`,
        [0.5, 0.99, 1].map((share) => ms(quantile(times[phase] ?? [], share))).join(", "),
      ],
    ),
    [
      "  p99 of odd to quiet, of odd to beside",
      [ratioOf(findings), p99(times.odd) / p99(times.beside)].map((one) => one.toFixed(2)).join(", "),
    ],
    ...["quiet", "beside", "odd"].map(
      (phase): Line => [
        `  of the time the server ran on a CPU / waited for one, ${phase}`,
        (findings.busy[phase] ?? [])
          .map(({ running, waiting }) => `${percent(running)} / ${percent(waiting)}`)
          .join(", "),
      ],
    ),
    ["process exits", findings.exits],
    ["violations", violations.length],
    ["seconds", Math.round(findings.seconds)],
    ["seed", findings.seed],
  ];
  return written(lines, violations, 60);
}
