/** One line of the report. */
export interface Row {
  readonly what: string;
  readonly unit: string;
  readonly runs: { readonly median: number; readonly min: number; readonly max: number };
  /** What it is held against in the same run, with the share that was reached. */
  readonly against?: string;
  readonly note?: string;
}

/** A Markdown table: read as it is in a terminal, and kept in docs/benchmarks.md. */
export function toTable(rows: readonly Row[]): string {
  const lines = rows.map(({ what, unit, runs, against = "", note = "" }) => [
    what,
    `**${round(runs.median)}** ${unit}`,
    `${round(runs.min)} – ${round(runs.max)}`,
    against,
    note,
  ]);
  return [
    "| what | median | min – max | ratio | note |",
    "| --- | --- | --- | --- | --- |",
    ...lines.map((cells) => `| ${cells.join(" | ")} |`),
  ].join("\n");
}

export const round = (value: number): string =>
  value >= 1_000 ? Math.round(value).toLocaleString("en-US") : value >= 10 ? value.toFixed(1) : value.toFixed(2);
