import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anySeed, runProgram } from "../support/program.ts";
import type { ArgsOf } from "../support/read-args.ts";
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

const PARTS = ["kill", "two", "stall", "days", "gauntlet", "run"] as const;
type Part = (typeof PARTS)[number];

const options = {
  seconds: { says: "length of the random run, before the failures end", count: [1, 86_400], default: 120 },
  endpoints: { says: "endpoints at its start", count: [1, 18], default: 8 },
  writers: { says: "clients that write", count: [1, 100], default: 6 },
  servers: { says: "servers that deliver", count: [1, 8], default: 2 },
  events: {
    says: "events that are committed while an endpoint is offline",
    count: [1, 10_000_000],
    default: 100_000,
  },
  only: { says: `some of ${PARTS.join(", ")}, separated by commas`, someOf: PARTS },
  seed: { says: "repeats the same choices; their timing differs from run to run", count: [0, 2 ** 31 - 1] },
  attached: { says: "the rows of the records are in attached tables", flag: true },
} as const;
type Args = ArgsOf<typeof options>;
type Print = (line: string) => void;

await runProgram({
  name: "deliveries",
  says: `Starts servers on one Postgres in a temporary directory that deliver webhooks to a receiver in its own process. First come
fixed scenarios: kills between a response and the cursor, two servers, a sender that is paused, an endpoint that was
offline for three days, and everything else at once. Then comes a random run: writers write, the receiver
fails in every way, servers, receiver and Postgres are killed and paused, and the owner changes settings. A checker
compares all requests with the log and with the rules for deliveries. If it finds a violation, the program exits with 1
and writes everything that it saw to a file.`,
  options,
  async run(args, print) {
    const seed = args.seed ?? anySeed();
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
    if (args.only.includes("run") && !(await run(args, seed, print))) broken += 1;
    return broken === 0;
  },
});

async function run(args: Args, seed: number, print: Print): Promise<boolean> {
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
