import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startEmbeddedPostgres } from "@holdfast/server";
import { attachReference, differingModels } from "../support/attached-tables.ts";
import { audit, type Verdict } from "../support/audit.ts";
import { type Follower, follow } from "../support/follower.ts";
import { KillableServer } from "../support/killable-server.ts";
import { embeddedAt, embeddedUrl, openDatabase } from "../support/log-tables.ts";
import { killBackend, killPostgres, stallPostgres } from "../support/postgres-process.ts";
import { startWriters, type Writers } from "../support/writers.ts";
import { type Args, readArgs, USAGE } from "./args.ts";
import { type Endpoint, startEndpoint } from "./endpoint.ts";
import { startMoves } from "./moves.ts";
import { prepareWriters } from "./prepare.ts";

/**
 *   writers ──HTTP──► server ──► Postgres        followers ◄── stream ── server
 *   every call is remembered as         ▲ ▲
 *   acknowledged, refused or unknown    │ │ kill -9, SIGSTOP
 *
 * With `--moves` the tenant travels between that Postgres and another one, with `--endpoint` a service has the records:
 * each is killed too.
 *
 * Afterwards the auditor reads the tables themselves and compares them with the records.
 */
async function run({ kills, writers: count, attached, moves: isMoving, endpoint: isElsewhere, plant }: Args) {
  const dataDir = await mkdtemp(join(tmpdir(), "holdfast-faults-"));
  const otherDir = await mkdtemp(join(tmpdir(), "holdfast-faults-other-"));
  const env = {
    ...((attached || isElsewhere) && { HOLDFAST_SCHEMA: "" }),
    ...((isMoving || isElsewhere) && { HOLDFAST_DATASOURCE_ALLOW_PRIVATE: "1" }),
  };
  const server = new KillableServer(dataDir, { env });
  const other = isMoving ? await startEmbeddedPostgres({ dataDir: otherDir }) : undefined;
  const endpoint = isElsewhere ? await startEndpoint(otherDir) : undefined;
  const begun = performance.now();
  try {
    await server.start();
    if (attached) await attachReference(embeddedUrl(dataDir));
    const plan = await prepareWriters(server, count, async (token) => endpoint?.register(server, token));
    const writers = startWriters(plan);
    const followers = [0, 1].map(() => follow(server.url, plan.keys[0] as string));
    const moves = other && startMoves(server, plan.keys[0] as string, otherDir);
    const killOther = async (n: number) => {
      if (endpoint) await endpoint.kill();
      else if (other) await (n % 2 === 1 ? killBackend(otherDir) : killPostgres(otherDir));
    };
    const hurt = await hurtIt(server, writers, kills, other || endpoint ? killOther : undefined);
    print("no more faults: every open question is asked until it is answered");
    await writers.finish();
    await moves?.finish();
    const audited = await judge(server, writers, followers, { plant, endpoint });
    const differing = attached ? await differingModels(embeddedUrl(dataDir)) : [];
    const verdict = { ...audited, violations: [...audited.violations, ...differing] };
    report({
      hurt,
      other: endpoint ? "the service" : other ? "the other Postgres" : undefined,
      moves: moves?.arrived,
      writers,
      verdict,
      seconds: (performance.now() - begun) / 1_000,
      longestOutageMs: server.longestOutageMs,
    });
    return verdict.violations.length === 0;
  } finally {
    await server.stop();
    await other?.stop();
    endpoint?.stop();
    for (const folder of [dataDir, otherDir]) await rm(folder, { recursive: true, force: true });
  }
}

interface Hurt {
  servers: number;
  postgres: number;
  backends: number;
  stalls: number;
  others: number;
}

/** One fault after the other, each while writes are on their way. */
async function hurtIt(
  server: KillableServer,
  writers: Writers,
  kills: number,
  killOther: ((n: number) => Promise<unknown>) | undefined,
): Promise<Hurt> {
  const hurt: Hurt = { servers: 0, postgres: 0, backends: 0, stalls: 0, others: 0 };
  // A move takes a second or two, and so does the way back after an outage: the faults come at any moment of it.
  const rest = async () => killOther && (await pause(Math.random() * 3_000));
  for (let n = 1; n <= kills; n++) {
    await writers.progress(60 + Math.floor(Math.random() * 100));
    await rest();
    await server.kill();
    hurt.servers += 1;
    await writers.progress(60 + Math.floor(Math.random() * 100));
    await rest();
    // In turn the postmaster, and one of the processes that it watches: that restarts all of them.
    if (n % 2 === 1) {
      await killPostgres(server.dataDir);
      hurt.postgres += 1;
    } else if (await killBackend(server.dataDir)) hurt.backends += 1;
    if (killOther) {
      await writers.progress(20 + Math.floor(Math.random() * 100));
      await rest();
      await killOther(n);
      hurt.others += 1;
    }
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
  { plant, endpoint }: { readonly plant: boolean; readonly endpoint: Endpoint | undefined },
): Promise<Verdict> {
  const database = await openDatabase(embeddedAt(server.dataDir));
  try {
    while ((await database.open()) > 0) await pause(100);
    const head = await database.head();
    await Promise.all(followers.map((follower) => follower.reaches(head)));
    if (plant) {
      const victim = writers.calls().find(({ receipt }) => receipt);
      print(`planted: the entry ${victim?.receipt?.lastSyncId} of an acknowledged write is taken out of the log`);
      await database.loseEntry(victim?.receipt?.lastSyncId ?? 1);
    }
    const everything = await database.everything();
    const verdict = audit({ ...everything, calls: writers.calls(), followers });
    const differences = endpoint?.differences(everything.rows) ?? [];
    return { ...verdict, violations: [...verdict.violations, ...differences] };
  } finally {
    for (const follower of followers) follower.close();
    await database.close();
  }
}

interface Findings {
  readonly hurt: Hurt;
  /** What else was killed. */
  readonly other: string | undefined;
  /** Undefined: none were asked for. */
  readonly moves: number | undefined;
  readonly writers: Writers;
  readonly verdict: Verdict;
  readonly seconds: number;
  readonly longestOutageMs: number;
}

function report({ hurt, other, moves, writers, verdict, seconds, longestOutageMs }: Findings): void {
  const { acknowledged, unknown, abandoned } = writers.totals();
  const lines: readonly (readonly [string, string | number])[] = [
    ["kill -9 of the server", hurt.servers],
    ["kill -9 of Postgres", `${hurt.postgres + hurt.backends} (${hurt.postgres} postmaster, ${hurt.backends} backend)`],
    ["SIGSTOP of Postgres, 3 s", hurt.stalls],
    ...(other === undefined ? [] : [[`kill -9 of ${other}`, hurt.others] as const]),
    ...(moves === undefined ? [] : [["moves that arrived", moves] as const]),
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
