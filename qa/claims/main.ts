import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anySeed, runProgram } from "../support/program.ts";
import { isSound, report } from "./report.ts";
import type { Findings } from "./run.ts";

const FAULT_EVERY_MS = 4_000;
const PER_PROCESS = 8;

await runProgram({
  name: "claims",
  says: `Starts two servers on one Postgres in a temporary directory, and claimants in their own processes that claim, wait,
write, renew, release and abandon claims on a few contested records. Meanwhile clients and servers are killed and
paused, Postgres is restarted and connections are cut. A checker compares all requests and responses with the rules
for claims. If it finds a violation, the program exits with 1 and writes the whole history to a file.`,
  options: {
    claimants: { says: "participants, each with its own token", count: [2, 500], default: 60 },
    operations: { says: "requests of all participants together", count: [1, 10_000_000], default: 20_000 },
    records: { says: "contested records", count: [2, 100], default: 12 },
    minutes: { says: "time limit", count: [1, 600], default: 15 },
    seed: { says: "repeats the same choices; their timing differs from run to run", count: [0, 2 ** 31 - 1] },
    attached: { says: "the rows of the records are in attached tables", flag: true },
  },
  async run({ minutes, seed = anySeed(), ...args }, print) {
    const { runClaims } = await import("./run.ts");
    print(`seed ${seed}`);
    const findings = await runClaims({
      ...{ ...args, seed, print },
      processes: Math.ceil(args.claimants / PER_PROCESS),
      withinMs: minutes * 60_000,
      faultEveryMs: FAULT_EVERY_MS,
    });
    process.stdout.write(report(findings));
    if (isSound(findings)) return true;
    print(`the whole history is in ${keep(findings)}`);
    return false;
  },
});

function keep({ seed, history, verdict, audited }: Findings): string {
  const file = join(mkdtempSync(join(tmpdir(), "holdfast-claims-history-")), `claims-${seed}.json`);
  const { violations } = verdict;
  writeFileSync(file, JSON.stringify({ seed, violations, audited: audited.violations, ...history }));
  return file;
}
