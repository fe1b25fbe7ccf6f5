export interface Args {
  readonly endpoints: number;
  readonly writers: number;
  readonly servers: number;
  readonly seconds: number;
  readonly events: number;
  readonly only: readonly Part[];
  readonly seed: number | undefined;
}

export const PARTS = ["kill", "two", "stall", "days", "poison", "gauntlet", "run"] as const;
export type Part = (typeof PARTS)[number];

export const USAGE = `Usage: npm run deliveries [-- --seconds N] [--endpoints N] [--writers N] [--servers N] [--events N] [--only PARTS] [--seed N]

Servers on one Postgres in a temporary directory that deliver webhooks to a receiver in a process of its own. First what is
done on purpose: kills between an answer and the cursor, two servers, a sender that stands still, an endpoint that was away for
three days, a poison event, and everything else at once. Then a run at random: writers write, the receiver fails in every way,
servers, receiver and Postgres are killed and stopped, the owner meddles. A judge holds everything that came against the log and
what deliveries promise.
Ends with 1 when something was broken, and then leaves all that was seen in a file.

  --seconds N    length of the run, before the calm: 120
  --endpoints N  at its beginning: 8
  --writers N    6
  --servers N    that deliver: 2
  --events N     that are committed while an endpoint is away: 100000
  --only PARTS   some of ${PARTS.join(", ")}, with commas between
  --seed N       makes the same choices again; how they meet differs from run to run
`;

type Count = Exclude<keyof Args, "only">;
const LIMITS: Readonly<Record<Count, readonly [usual: number | undefined, least: number, most: number]>> = {
  seconds: [120, 1, 86_400],
  endpoints: [8, 1, 18],
  writers: [6, 1, 100],
  servers: [2, 1, 8],
  events: [100_000, 1, 10_000_000],
  seed: [undefined, 0, 2 ** 31 - 1],
};

/** The program's words, or what is wrong with them; "" when help was asked for. */
export function readArgs(args: readonly string[]): Args | string {
  const values = new Map<string, number | undefined>(Object.entries(LIMITS).map(([name, [usual]]) => [name, usual]));
  let only: readonly Part[] = PARTS;
  for (let i = 0; i < args.length; i++) {
    const word = args[i] as string;
    if (word === "--help") return "";
    const name = word.slice(2);
    const text = args[i + 1] ?? "";
    if (word === "--only") {
      const parts = text.split(",");
      if (!parts.every(isPart)) return `--only takes some of ${PARTS.join(", ")}.`;
      only = parts;
    } else if (word.startsWith("--") && Object.hasOwn(LIMITS, name)) {
      const [, least, most] = LIMITS[name as Count];
      const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
      if (!(value >= least && value <= most)) return `${word} takes a whole number from ${least} to ${most}.`;
      values.set(name, value);
    } else return `"${word}" is not an option.`;
    i++;
  }
  return { ...(Object.fromEntries(values) as Omit<Args, "only">), only };
}

const isPart = (text: string): text is Part => PARTS.some((part) => part === text);
