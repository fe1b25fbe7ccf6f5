import { anySeed, runProgram } from "../support/program.ts";

const PROGRAMS = [
  ...["main", "cli", "holdfast"].map((name) => `packages/server/src/${name}.ts`),
  ...["neighbour", "owners-service"].map((name) => `qa/foreign/programs/${name}.ts`),
];

await runProgram({
  name: "foreign",
  says: `Starts a server on an embedded Postgres in a temporary directory, and lets it read from others what is huge, deep or
broken: rows of attached tables that plain SQL writes, answers of an endpoint datasource and of webhook receivers, and
files. Quiet and odd phases take turns. Another tenant's requests are measured in both. If the server ends, answers with
500, leaves something undone, or delays the other tenant too much, the program exits with 1.`,
  options: {
    rounds: { says: "how often a quiet phase and an odd one follow each other", count: [1, 1_000], default: 3 },
    seconds: { says: "length of a phase", count: [1, 3_600], default: 20 },
    files: { says: "commands that get an odd file, of 159", count: [0, 159], default: 159 },
    only: { says: "some of tables, answers, files, separated by commas", someOf: ["tables", "answers", "files"] },
    seed: { says: "repeats the same choices; their timing differs from run to run", count: [0, 2 ** 31 - 1] },
  },
  async run({ rounds, seconds, files, only, seed = anySeed() }, print) {
    const [{ bundleForRun }, { startEmbeddedPostgres }, { isNeighbourly, report }, { runForeign }] = await Promise.all([
      import("../../scripts/bundle-programs.ts"),
      import("@holdfast/server"),
      import("./report.ts"),
      import("./run.ts"),
    ]);
    // Commands that are read from their sources would take most of the CPU.
    const removeBundles = await bundleForRun(PROGRAMS);
    const postgres = await startEmbeddedPostgres({ throwaway: true });
    try {
      print(`seed ${seed}`);
      const findings = await runForeign({
        ...{ databaseUrl: postgres.url, rounds, phaseMs: seconds * 1_000, files, only, seed, print },
        scale: { mebibytes: [1, 1, 15, 17, 60, 200], seldomMebibytes: 520 },
      });
      process.stdout.write(report(findings));
      return findings.violations.length === 0 && isNeighbourly(findings);
    } finally {
      await postgres.stop();
      removeBundles();
    }
  },
});
