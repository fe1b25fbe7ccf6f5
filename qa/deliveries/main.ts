import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Args, type Part, readArgs, USAGE } from "./args.ts";
import { isMet, isSound, report, reportFinding } from "./report.ts";
import { type Findings, runDeliveries } from "./run/run.ts";
import { gauntlet } from "./scenarios/gauntlet.ts";
import { killAtAnswer } from "./scenarios/kill-at-answer.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import { stalledSender } from "./scenarios/stalled-sender.ts";
import { threeDays } from "./scenarios/three-days.ts";
import { twoServers } from "./scenarios/two-servers.ts";

const KILLS = 5;
const FAULT_EVERY_MS = 5_000;
const DEATHS_EVERY_MS = 15_000;
const MEDDLE_EVERY_MS = 1_500;

const args = readArgs(process.argv.slice(2));
if (typeof args === "string") {
  process.stdout.write(args === "" ? USAGE : `${args}\n\n${USAGE}`);
  process.exitCode = args === "" ? 0 : 1;
} else process.exitCode = await deliveries(args);

async function deliveries(args: Args): Promise<number> {
  const seed = args.seed ?? Math.floor(Math.random() * 2 ** 31);
  print(`seed ${seed}`);
  const scenarios: Readonly<Record<Exclude<Part, "run">, Scenario>> = {
    kill: killAtAnswer(KILLS),
    two: twoServers,
    stall: stalledSender,
    days: threeDays(args.events),
    gauntlet,
  };
  let broken = 0;
  for (const part of args.only) {
    if (part === "run") continue;
    const { title, play } = scenarios[part];
    print(`${part}: ${title}`);
    const finding = await play({ seed, attached: args.attached });
    process.stdout.write(reportFinding(title, finding));
    if (!isMet(finding)) broken += 1;
  }
  if (args.only.includes("run") && !(await run(args, seed))) broken += 1;
  return broken === 0 ? 0 : 1;
}

async function run(args: Args, seed: number): Promise<boolean> {
  const { endpoints, writers, servers, seconds, attached } = args;
  const findings = await runDeliveries({
    ...{ seed, endpoints, writers, servers, attached, print },
    forMs: seconds * 1_000,
    faultEveryMs: FAULT_EVERY_MS,
    deathsEveryMs: DEATHS_EVERY_MS,
    meddleEveryMs: MEDDLE_EVERY_MS,
  });
  process.stdout.write(report(findings));
  if (isSound(findings)) return true;
  print(`all that was seen is in ${keep(findings)}`);
  return false;
}

function keep({ seed, evidence, verdict }: Findings): string {
  const file = join(mkdtempSync(join(tmpdir(), "holdfast-deliveries-seen-")), `deliveries-${seed}.json`);
  writeFileSync(file, JSON.stringify({ seed, violations: verdict.violations, ...evidence }));
  return file;
}

function print(line: string): void {
  process.stderr.write(`deliveries: ${line}\n`);
}
