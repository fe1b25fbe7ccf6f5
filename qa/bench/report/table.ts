import type { Runs } from "./statistics.ts";

/** One line of the report. */
export interface Row {
  readonly what: string;
  readonly unit: string;
  readonly runs: Runs | "not measured";
  /** What it is held against in the same run, with the share that was reached. */
  readonly against?: string;
  readonly note?: string;
}

/** A Markdown table: read as it is in a terminal, and kept in docs/benchmarks.md. */
export function toTable(rows: readonly Row[]): string {
  const lines = rows.map(({ what, unit, runs, against = "", note = "" }) => [
    what,
    ...(runs === "not measured"
      ? [runs, ""]
      : [`**${round(runs.median)}** ${unit}`, `${round(runs.min)} – ${round(runs.max)}`]),
    against,
    note,
  ]);
  return [
    "| what | median | min – max | ratio | note |",
    "| --- | --- | --- | --- | --- |",
    ...lines.map((cells) => `| ${cells.join(" | ")} |`),
  ].join("\n");
}

/** A table of a page that the formatter checks: its columns are aligned. The first line is the head. */
export function toAlignedTable([head = [], ...lines]: readonly (readonly string[])[]): string {
  const widths = head.map((_, n) => Math.max(3, ...[head, ...lines].map((cells) => cells[n]?.length ?? 0)));
  const row = (cells: readonly string[], fill: string) =>
    `| ${widths.map((width, n) => (cells[n] ?? "").padEnd(width, fill)).join(" | ")} |`;
  return [row(head, " "), row([], "-"), ...lines.map((cells) => row(cells, " "))].join("\n");
}

export const round = (value: number): string =>
  value >= 1_000 ? Math.round(value).toLocaleString("en-US") : value >= 10 ? value.toFixed(1) : value.toFixed(2);
