import { anySeed, runProgram } from "../support/program.ts";
import { report } from "./report.ts";

const FAULT_EVERY_MS = 5_000;

await runProgram({
  name: "tables",
  says: `Starts two servers on one Postgres in a temporary directory, attaches four tables, and writes the same rows from two
sides: clients of the server, and plain SQL that knows nothing of it. Some rows and transactions are large. Meanwhile
servers and Postgres are killed and suspended. Then a checker compares tables, records and log with what the writers
remember. If it finds a violation, the program exits with 1.`,
  options: {
    minutes: { says: "how long they write", count: [1, 600], default: 2 },
    writers: { says: "writers of each kind", count: [1, 100], default: 8 },
    seed: { says: "repeats the same choices; their timing differs from run to run", count: [0, 2 ** 31 - 1] },
  },
  async run({ minutes, writers, seed = anySeed() }, print) {
    const { runTables } = await import("./run.ts");
    print(`seed ${seed}`);
    const findings = await runTables({ seconds: minutes * 60, writers, seed, faultEveryMs: FAULT_EVERY_MS, print });
    process.stdout.write(report(findings));
    return findings.verdict.violations.length === 0;
  },
});
