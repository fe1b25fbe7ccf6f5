import { availableParallelism } from "node:os";
import type { Found, Line } from "../support/report.ts";
import type { Findings } from "./run.ts";

/** How much slower another tenant may be while values are odd, at its slowest hundredth. */
const MOST_RATIO = 3;

/**
 * On few cores the neighbour waits for the CPU that Postgres takes to read the rows, whatever the server does: there its
 * delay is only reported. Enough: for the server, the neighbour, the owner's service, the run, and Postgres' processes.
 */
const ENOUGH_CORES = 8;

const quantile = (times: readonly number[] = [], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;

const ms = (value: number) => `${value.toFixed(1)} ms`;

/** What a run found: what was tried and answered, how the neighbour fared, and violations. */
export function report(findings: Findings): Found {
  const { times, answers, oddAnswers, files } = findings;
  const counted = (what: string, counts: Iterable<readonly [string, number]>): Line[] => {
    const all = [...counts].sort(([a], [b]) => a.localeCompare(b));
    return [[what, all.reduce((sum, [, n]) => sum + n, 0)], ...all.map(([one, n]): Line => [`  ${one}`, n])];
  };
  const [quiet, beside, odd] = (["quiet", "beside", "odd"] as const).map((phase) => quantile(times[phase], 0.99));
  const ratio = Number(odd) / Number(quiet);
  const isDelayed = availableParallelism() >= ENOUGH_CORES && !(ratio <= MOST_RATIO);
  return {
    lines: [
      ["statements of SQL", findings.statements],
      ["  refused by Postgres itself", findings.refused],
      ["entries that followers received", findings.entries],
      ...counted("odd answers of the owner's service", Object.entries(oddAnswers)),
      ...counted("answers to the tenants' own clients", answers),
      ["commands with odd files", files.tried],
      ["longest time in which a small record could not be read", ms(findings.longestUnreadableMs)],
      ["until nothing was left, by round", findings.settleMs.map(ms).join(", ")],
      ...Object.entries(times).map(
        ([phase, some]): Line => [
          `the neighbour's ${some.length} requests, ${phase}: half, p99, slowest`,
          [0.5, 0.99, 1].map((share) => ms(quantile(some, share))).join(", "),
        ],
      ),
      [
        "  p99 of odd to quiet, of odd to beside",
        [ratio, Number(odd) / Number(beside)].map((one) => one.toFixed(2)).join(", "),
      ],
      ["process exits", findings.exits],
      ["seconds", Math.round(findings.seconds)],
      ["seed", findings.seed],
    ],
    violations: [
      ...findings.violations,
      ...(isDelayed ? [`the neighbour's slowest hundredth took ${ratio.toFixed(2)} times as long`] : []),
    ],
  };
}
