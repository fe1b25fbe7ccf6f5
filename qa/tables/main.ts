import { type Args, readArgs, USAGE } from "./args.ts";
import { report } from "./report.ts";

const FAULT_EVERY_MS = 5_000;

const args = readArgs(process.argv.slice(2));
if (typeof args === "string") {
  process.stdout.write(args === "" ? USAGE : `${args}\n\n${USAGE}`);
  process.exitCode = args === "" ? 0 : 1;
} else process.exitCode = await tables(args);

async function tables({ minutes, writers, seed = Math.floor(Math.random() * 2 ** 31) }: Args): Promise<number> {
  // Loaded only now, so that `--help` answers at once.
  const { runTables } = await import("./run.ts");
  print(`seed ${seed}`);
  const findings = await runTables({ seconds: minutes * 60, writers, seed, faultEveryMs: FAULT_EVERY_MS, print });
  process.stdout.write(report(findings));
  return findings.verdict.violations.length === 0 ? 0 : 1;
}

function print(line: string): void {
  process.stderr.write(`tables: ${line}\n`);
}
