import type { Runs } from "../report/statistics.ts";
import { type Row, round } from "../report/table.ts";

/** The table of what `commits.ts` measured, figures by their names there. */
export function commitRows(figures: ReadonlyMap<string, Runs>): Row[] {
  const of = (name: string) => figures.get(name) as Runs;
  const median = (name: string) => of(name).median;
  const share = (name: string, base: string) => round(median(name) / median(base));
  /** A share that was measured as such. */
  const measured = (name: string) => `**${round(median(name))}** (${round(of(name).min)} – ${round(of(name).max)})`;
  const row = (what: string, name: string, against?: string, note?: string): Row => ({
    what,
    unit: "/s",
    runs: of(name),
    ...(against !== undefined && { against }),
    ...(note !== undefined && { note }),
  });
  return [
    row("floor: Fastify echo of the same body, 64 connections", "echo"),
    row("floor: transactions of one log line and one row, 64 connections", "floor"),
    row(
      "floor: transactions of 32 log lines, rows and receipts, one connection, no HTTP",
      "rounds",
      `${share("rounds", "echo")} of the echo`,
    ),
    row("commits, 1 organization, 1 connection", "one1", `${share("one1", "echo")} of the echo at 64`),
    row("commits, 1 organization, 16 connections", "one16", `${share("one16", "echo")} of the echo at 64`),
    row("commits, 1 organization, 64 connections", "one64", `${measured("oneOfEcho")} of the echo`, "target 0.35"),
    row(
      "the same with a token of one model and one group",
      "scoped64",
      `${measured("scopedOfOne")} of a secret key's`,
      "target 0.90",
    ),
    row(
      "the same, one commit per round",
      "single64",
      `the lane is **${share("one64", "single64")}×** this`,
      "target 5×",
    ),
    row("commits with a slow disk (2 ms a commit)", "slow64"),
    row(
      "the same, one commit per round",
      "slowSingle64",
      `the lane is **${share("slow64", "slowSingle64")}×** this`,
      "target 10×",
    ),
    row("commits, 32 organizations, 1 connection", "many1"),
    row("commits, 32 organizations, 16 connections", "many16"),
    row(
      "commits, 32 organizations, 64 connections",
      "many64",
      `${measured("manyOfOne")} of one organization`,
      "target 0.70",
    ),
    row(
      "commits, a log of 2 000 000 entries, 64 connections",
      "large64",
      `${measured("largeOfSmall")} of a log that began empty`,
      "target 0.90",
    ),
    row("bulk of 100, 4 connections: commits", "bulk", `${share("bulk", "one64")} of single commits`, "target 8 000/s"),
  ];
}
