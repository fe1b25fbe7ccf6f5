export type Line = readonly [what: string, figure: string | number];

/** What a run found. */
export interface Found {
  readonly lines: readonly Line[];
  readonly violations: readonly string[];
  /** Text above the figures. */
  readonly above?: string;
  /** Everything that was seen, for a file if there is a violation. */
  readonly seen?: object;
}

const SHOWN = 60;

/** The figures of a run, a line each, and its first violations. */
export function report({ lines, violations, above }: Found): string {
  const all: readonly Line[] = [...lines, ["violations", violations.length]];
  const width = Math.max(...all.map(([what]) => what.length)) + 2;
  return [
    ...(above === undefined ? [] : [above]),
    ...all.map(([what, figure]) => `${what.padEnd(width)} ${figure}`),
    ...violations.slice(0, SHOWN).map((violation) => `VIOLATION ${violation}`),
    "",
  ].join("\n");
}

export interface Violation<Kind extends string> {
  readonly kind: Kind;
  readonly message: string;
}

/** Of a judge with several checks: how often each of them applied, what each found, and its violations, kind by kind. */
export function judged<Kind extends string>(
  kinds: Readonly<Record<Kind, string>>,
  coverage: object,
  violations: readonly Violation<Kind>[],
): Pick<Found, "lines" | "violations"> {
  const names = Object.keys(kinds) as Kind[];
  const of = (name: Kind) => violations.filter(({ kind }) => kind === name);
  return {
    lines: [
      ...Object.entries(coverage).map(([key, count]): Line => [inWords(key), count as number]),
      ...names.map((name): Line => [kinds[name], of(name).length]),
    ],
    violations: names.flatMap((name) => of(name).map(({ kind, message }) => `${kind}: ${message}`)),
  };
}

const inWords = (key: string): string => key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
