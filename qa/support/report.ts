export type Line = readonly [what: string, figure: string | number];

/** The figures of a run, a line each, and its first violations. */
export function report(lines: readonly Line[], violations: readonly string[], shown = 20): string {
  const width = Math.max(...lines.map(([what]) => what.length)) + 2;
  return [
    ...lines.map(([what, figure]) => `${what.padEnd(width)} ${figure}`),
    ...violations.slice(0, shown).map((violation) => `VIOLATION ${violation}`),
    "",
  ].join("\n");
}
