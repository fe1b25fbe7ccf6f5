import { anySeed, type Options } from "../support/program.ts";
import type { ArgsOf } from "../support/read-args.ts";
import type { Found } from "../support/report.ts";

/** What can be tried under faults. What is large is imported only in `run`, so that `--help` answers at once. */
export interface Subject<Table extends Options> {
  /** In one line. */
  readonly title: string;
  readonly says: string;
  readonly options: Table;
  run(args: ArgsOf<Table>, print: (line: string) => void): AsyncIterable<Found>;
}

const subject = <const Table extends Options>(one: Subject<Table>): Subject<Table> => one;

const MOST = 2 ** 31 - 1;
const seedOption = {
  says: "repeats the same choices; their timing differs from run to run",
  count: [0, MOST],
} as const;
const attached = { says: "the rows of the records are in attached tables", flag: true } as const;

/** With a seed, which is printed. */
function seeded<Args extends { readonly seed: number | undefined }>(args: Args, print: (line: string) => void) {
  const { seed = anySeed() } = args;
  print(`seed ${seed}`);
  return { ...args, seed, print };
}

export const subjects: Readonly<Record<string, Subject<Options>>> = {
  writes: subject({
    title: "servers and Postgres are killed while clients write",
    says: `Starts a server in a temporary directory with clients that write, kills the server and its Postgres again and again,
and then checks that every acknowledged write is in the log exactly once. Exits with 1 if one is not.`,
    options: {
      kills: { says: "how often each of the two is killed", count: [1, 10_000], default: 20 },
      writers: { says: "clients that write at the same time", count: [1, 10_000], default: 16 },
      attached,
      moves: {
        says: "the tenant moves into another Postgres and back all the while; that one is killed too",
        flag: true,
      },
      endpoint: {
        says: "the records are in a service behind an endpoint datasource; that one is killed too",
        flag: true,
      },
      mariadb: { says: "the same, with the records in MariaDB instead of SQLite", flag: true },
      plant: {
        says: "removes one acknowledged write from the log before the check, to show that the check finds it",
        flag: true,
      },
    },
    async *run(args, print) {
      yield await (await import("./run.ts")).runWrites({ ...args, print });
    },
  }),
  claims: subject({
    title: "clients and servers are killed while they compete for claims",
    says: `Starts two servers on one Postgres in a temporary directory, and claimants in their own processes that claim, wait,
write, renew, release and abandon claims on a few contested records. Meanwhile clients and servers are killed and
paused, Postgres is restarted and connections are cut. A checker compares all requests and responses with the rules
for claims. If it finds a violation, the program exits with 1 and writes the whole history to a file.`,
    options: {
      claimants: { says: "participants, each with its own token", count: [2, 500], default: 60 },
      operations: { says: "requests of all participants together", count: [1, 10_000_000], default: 20_000 },
      records: { says: "contested records", count: [2, 100], default: 12 },
      minutes: { says: "time limit", count: [1, 600], default: 15 },
      seed: seedOption,
      attached,
    },
    async *run(args, print) {
      const [{ runClaims }, { report }] = await Promise.all([
        import("../claims/run.ts"),
        import("../claims/report.ts"),
      ]);
      yield report(
        await runClaims({
          ...seeded(args, print),
          ...{ processes: Math.ceil(args.claimants / 8), withinMs: args.minutes * 60_000, faultEveryMs: 4_000 },
        }),
      );
    },
  }),
  deliveries: subject({
    title: "receivers, servers and Postgres fail while webhooks are delivered",
    says: `Starts servers on one Postgres in a temporary directory that deliver webhooks to a receiver in its own process. First come
fixed scenarios: kills between a response and the cursor, two servers, a sender that is paused, an endpoint that was
offline for three days, and everything else at once. Then comes a random run: writers write, the receiver
fails in every way, servers, receiver and Postgres are killed and paused, and the owner changes settings. A checker
compares all requests with the log and with the rules for deliveries. If it finds a violation, the program exits with 1
and writes everything that it saw to a file.`,
    options: {
      seconds: { says: "length of the random run, before the failures end", count: [1, 86_400], default: 120 },
      endpoints: { says: "endpoints at its start", count: [1, 18], default: 8 },
      writers: { says: "clients that write", count: [1, 100], default: 6 },
      servers: { says: "servers that deliver", count: [1, 8], default: 2 },
      events: {
        says: "events that are committed while an endpoint is offline",
        count: [1, 10_000_000],
        default: 100_000,
      },
      only: {
        says: "some of kill, two, stall, days, gauntlet, run, separated by commas",
        someOf: ["kill", "two", "stall", "days", "gauntlet", "run"],
      },
      seed: seedOption,
      attached,
    },
    async *run(args, print) {
      const [{ runDeliveries }, { report }, { playScenarios }] = await Promise.all([
        import("../deliveries/run/run.ts"),
        import("../deliveries/report.ts"),
        import("../deliveries/scenarios/scenarios.ts"),
      ]);
      const { only, events, seconds, ...given } = seeded(args, print);
      yield* playScenarios(only, events, given);
      if (only.includes("run"))
        yield report(
          await runDeliveries({
            ...given,
            ...{ forMs: seconds * 1_000, faultEveryMs: 5_000, deathsEveryMs: 15_000, meddleEveryMs: 1_500 },
          }),
        );
    },
  }),
  tables: subject({
    title: "servers and Postgres are killed while clients and plain SQL write the same rows",
    says: `Starts two servers on one Postgres in a temporary directory, attaches four tables, and writes the same rows from two
sides: clients of the server, and plain SQL that knows nothing of it. Some rows and transactions are large. Meanwhile
servers and Postgres are killed and suspended. Then a checker compares tables, records and log with what the writers
remember. If it finds a violation, the program exits with 1.`,
    options: {
      minutes: { says: "how long they write", count: [1, 600], default: 2 },
      writers: { says: "writers of each kind", count: [1, 100], default: 8 },
      seed: seedOption,
    },
    async *run({ minutes, ...args }, print) {
      const [{ runTables }, { report }] = await Promise.all([
        import("../tables/run.ts"),
        import("../tables/report.ts"),
      ]);
      yield report(await runTables({ ...seeded(args, print), seconds: minutes * 60, faultEveryMs: 5_000 }));
    },
  }),
  foreign: subject({
    title: "a server reads rows, answers and files that are huge, deep or broken",
    says: `Starts a server on an embedded Postgres in a temporary directory, and lets it read from others what is huge, deep or
broken: rows of attached tables that plain SQL writes, answers of an endpoint datasource and of webhook receivers, and
files. Quiet and odd phases take turns. Another tenant's requests are measured in both. If the server ends, answers with
500, leaves something undone, or delays the other tenant too much, the program exits with 1.`,
    options: {
      rounds: { says: "how often a quiet phase and an odd one follow each other", count: [1, 1_000], default: 3 },
      seconds: { says: "length of a phase", count: [1, 3_600], default: 20 },
      files: { says: "commands that get an odd file, of 159", count: [0, 159], default: 159 },
      only: { says: "some of tables, answers, files, separated by commas", someOf: ["tables", "answers", "files"] },
      seed: seedOption,
    },
    async *run({ seconds, ...args }, print) {
      const [{ bundleForRun, programs }, { runForeign }, { report }, { LARGE }] = await Promise.all([
        import("../../scripts/bundle-programs.ts"),
        import("../foreign/run.ts"),
        import("../foreign/report.ts"),
        import("../foreign/values/column-values.ts"),
      ]);
      // Commands that are read from their sources would take most of the CPU.
      const removeBundles = await bundleForRun(programs);
      try {
        yield report(await runForeign({ ...seeded(args, print), phaseMs: seconds * 1_000, scale: LARGE }));
      } finally {
        removeBundles();
      }
    },
  }),
  converge: subject({
    title: "devices write over bad connections, and die",
    says: `Runs devices that write at random against a real server with its own Postgres. Their connections lose, repeat and delay
messages, and devices are killed now and then. At the end all devices must show what the log says, and no write may be
lost or applied twice.`,
    options: {
      seeds: {
        says: "number of runs, each with its own seed, also from HOLDFAST_SEEDS",
        count: [1, MOST],
        default: Number(process.env.HOLDFAST_SEEDS ?? 200),
      },
      seed: { says: "one run, with this seed", count: [0, MOST] },
      steps: { says: "number of steps in a run", count: [1, MOST], default: 120 },
    },
    async *run({ seeds, seed, steps }, print) {
      const { convergeMany } = await import("../convergence/run.ts");
      yield await convergeMany(seed !== undefined ? [seed] : Array.from({ length: seeds }, anySeed), steps, print);
    },
  }),
  fuzz: subject({
    title: "a server gets random requests and frames, most of them wrong",
    says: `Starts a server on an embedded Postgres in a temporary directory, and sends it requests and frames that are generated
from its own tables: valid ones, and ones with one to three errors. Every response is compared with the description and
the rules. If one violates them, the program exits with 1 and prints the smallest such request.`,
    options: {
      requests: { says: "number of requests", count: [1, MOST], default: 50_000 },
      seed: {
        says: "repeats the same requests; with one connection they also arrive in the same order",
        count: [0, MOST],
      },
      connections: { says: "requests in flight at the same time", count: [1, 256], default: 16 },
    },
    async *run(args, print) {
      const [{ runFuzz }, { report }] = await Promise.all([import("../fuzz/run.ts"), import("../fuzz/report.ts")]);
      yield report(await runFuzz(seeded(args, print)));
    },
  }),
};
