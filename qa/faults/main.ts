import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { audit, type Verdict } from "../support/audit.ts";
import { KillableServer } from "../support/killable-server.ts";
import { embeddedAt, openDatabase } from "../support/log-tables.ts";
import { killBackend, killPostgres, stallPostgres } from "../support/postgres-process.ts";
import { type Args, readArgs, USAGE } from "./args.ts";
import { type Follower, follow } from "./follower.ts";
import { startWriters, type Writers } from "./writers.ts";

/**
 *   writers ──HTTP──► server ──► Postgres        followers ◄── stream ── server
 *   every call is remembered as         ▲ ▲
 *   acknowledged, refused or unknown    │ │ kill -9, SIGSTOP
 *
 * Afterwards the auditor reads the tables themselves and compares them with the records.
 */
async function run({ kills, writers: count, plant }: Args): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), "holdfast-faults-"));
  const server = new KillableServer(dataDir);
  const begun = performance.now();
  try {
    await server.start();
    const writers = await startWriters(server, count);
    const followers = [0, 1].map(() => follow(server.url, writers.keys[0] as string));
    const hurt = await hurtIt(server, writers, kills);
    print("no more faults: every open question is asked until it is answered");
    await writers.finish();
    const verdict = await judge(server, writers, followers, plant);
    report({
      hurt,
      writers,
      verdict,
      seconds: (performance.now() - begun) / 1_000,
      longestOutageMs: server.longestOutageMs,
    });
    return verdict.violations.length === 0;
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Hurt {
  servers: number;
  postgres: number;
  backends: number;
  stalls: number;
}

/** One fault after the other, each while writes are on their way. */
async function hurtIt(server: KillableServer, writers: Writers, kills: number): Promise<Hurt> {
  const hurt: Hurt = { servers: 0, postgres: 0, backends: 0, stalls: 0 };
  for (let n = 1; n <= kills; n++) {
    await writers.progress(60 + Math.floor(Math.random() * 100));
    await server.kill();
    hurt.servers += 1;
    await writers.progress(60 + Math.floor(Math.random() * 100));
    // In turn the postmaster, and one of the processes that it watches: that restarts all of them.
    if (n % 2 === 1) {
      await killPostgres(server.dataDir);
      hurt.postgres += 1;
    } else if (await killBackend(server.dataDir)) hurt.backends += 1;
    if (n % 7 === 0) {
      await writers.progress(60);
      if (await stallPostgres(server.dataDir, 3_000)) hurt.stalls += 1;
    }
    const { acknowledged, unknown } = writers.totals();
    print(
      `${n}/${kills}: the server and Postgres killed once more; ${acknowledged} acknowledged, ${unknown} calls without an answer`,
    );
  }
  await writers.progress(60);
  return hurt;
}

async function judge(
  server: KillableServer,
  writers: Writers,
  followers: readonly Follower[],
  plant: boolean,
): Promise<Verdict> {
  const database = await openDatabase(embeddedAt(server.dataDir));
  try {
    const head = await database.head();
    await Promise.all(followers.map((follower) => follower.reaches(head)));
    if (plant) {
      const victim = writers.calls().find(({ receipt }) => receipt);
      print(`planted: the entry ${victim?.receipt?.lastSyncId} of an acknowledged write is taken out of the log`);
      await database.loseEntry(victim?.receipt?.lastSyncId ?? 1);
    }
    return audit({ ...(await database.everything()), calls: writers.calls(), followers });
  } finally {
    for (const follower of followers) follower.close();
    await database.close();
  }
}

interface Findings {
  readonly hurt: Hurt;
  readonly writers: Writers;
  readonly verdict: Verdict;
  readonly seconds: number;
  readonly longestOutageMs: number;
}

function report({ hurt, writers, verdict, seconds, longestOutageMs }: Findings): void {
  const { acknowledged, unknown, abandoned } = writers.totals();
  const lines: readonly (readonly [string, string | number])[] = [
    ["kill -9 of the server", hurt.servers],
    ["kill -9 of Postgres", `${hurt.postgres + hurt.backends} (${hurt.postgres} postmaster, ${hurt.backends} backend)`],
    ["SIGSTOP of Postgres, 3 s", hurt.stalls],
    ["longest time without an answer", `${(longestOutageMs / 1_000).toFixed(1)} s`],
    ["writes acknowledged", acknowledged],
    ["calls without an answer", unknown],
    ["writes given up with the outcome unknown", abandoned],
    ["  of these in the log", verdict.abandonedFound],
    ["entries in the log", verdict.entries],
    ["followers × entries heard", `${verdict.followers} × ${verdict.entries}`],
    ["acknowledged and lost", verdict.lost],
    ["written twice", verdict.duplicated],
    ["violations", verdict.violations.length],
    ["seconds", Math.round(seconds)],
  ];
  process.stdout.write(`\n${lines.map(([what, figure]) => `${what.padEnd(42)} ${figure}`).join("\n")}\n`);
  for (const violation of verdict.violations.slice(0, 20)) process.stdout.write(`VIOLATION ${violation}\n`);
}

const print = (line: string): void => void process.stdout.write(`faults: ${line}\n`);

const args = readArgs(process.argv.slice(2));
if (typeof args === "string") {
  process.stdout.write(args === "" ? USAGE : `${args}\n\n${USAGE}`);
  process.exitCode = args === "" ? 0 : 1;
} else process.exitCode = (await run(args)) ? 0 : 1;
