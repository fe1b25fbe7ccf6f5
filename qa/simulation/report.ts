import type { Totals } from "./totals.ts";

/** The report of a run for people: schedules, faults and violations. */
export function report({ schedules, picks, counts, broken }: Totals, seed: number, ms: number): string {
  const perSecond = (schedules / (ms / 1_000)).toFixed(0);
  const kinds = [...grouped(broken, ({ check }) => check)].map(
    ([check, those]) =>
      `  ${check}: ${those.length} (${those.slice(0, 5).map((one) => one.seed)}${those.length > 5 ? ", …" : ""})`,
  );
  return [
    `${schedules} schedules from seed ${seed}, ${picks} things that happened, ${(ms / 1_000).toFixed(1)} s (${perSecond}/s)`,
    ...groups(counts),
    `${broken.length} violations`,
    ...kinds,
    "",
  ].join("\n");
}

/** `write: own` and `write: title` are a line of their own: `write 300: own 200, title 100`. */
function groups(counts: Totals["counts"]): string[] {
  const parts = Object.entries(counts).map(([what, often]) => ({ group: what.split(": ")[0] ?? what, what, often }));
  return [...grouped(parts, ({ group }) => group)].map(([group, those]) => {
    const sum = those.reduce((all, { often }) => all + often, 0);
    const each = those
      .toSorted((a, b) => b.often - a.often)
      .filter(({ what }) => what !== group)
      .map(({ what, often }) => `${what.slice(group.length + 2)} ${often}`);
    return `${group} ${sum}${each.length > 0 ? `: ${each.join(", ")}` : ""}`;
  });
}

function grouped<T>(items: readonly T[], by: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(by(item), [...(groups.get(by(item)) ?? []), item]);
  return groups;
}
