import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Args, readArgs, USAGE } from "./args.ts";
import { isSound, report } from "./report.ts";
import type { Findings } from "./run.ts";

const FAULT_EVERY_MS = 4_000;
const PER_PROCESS = 8;

const args = readArgs(process.argv.slice(2));
if (typeof args === "string") {
  process.stdout.write(args === "" ? USAGE : `${args}\n\n${USAGE}`);
  process.exitCode = args === "" ? 0 : 1;
} else process.exitCode = await claims(args);

async function claims({
  claimants,
  operations,
  records,
  minutes,
  attached,
  seed = Math.floor(Math.random() * 2 ** 31),
}: Args): Promise<number> {
  // Loaded only now, so that `--help` answers at once.
  const { runClaims } = await import("./run.ts");
  print(`seed ${seed}`);
  const findings = await runClaims({
    ...{ claimants, operations, records, seed, attached, print },
    processes: Math.ceil(claimants / PER_PROCESS),
    withinMs: minutes * 60_000,
    faultEveryMs: FAULT_EVERY_MS,
  });
  process.stdout.write(report(findings));
  if (isSound(findings)) return 0;
  print(`the whole history is in ${keep(findings)}`);
  return 1;
}

function keep({ seed, history, verdict, audited }: Findings): string {
  const file = join(mkdtempSync(join(tmpdir(), "holdfast-claims-history-")), `claims-${seed}.json`);
  const { violations } = verdict;
  writeFileSync(file, JSON.stringify({ seed, violations, audited: audited.violations, ...history }));
  return file;
}

function print(line: string): void {
  process.stderr.write(`claims: ${line}\n`);
}
