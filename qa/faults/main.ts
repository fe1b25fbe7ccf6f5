import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startEmbeddedPostgres } from "@holdfast/server";
import { differingModels } from "../support/attached-tables.ts";
import { audit, type Verdict } from "../support/audit.ts";
import { openFaultEnvironment } from "../support/fault-environment.ts";
import { type Follower, follow } from "../support/follower.ts";
import type { KillableServer } from "../support/killable-server.ts";
import { openDatabase } from "../support/log-tables.ts";
import { killBackend, killPostgres } from "../support/postgres-process.ts";
import { anySeed, runProgram } from "../support/program.ts";
import { createRandomActs, type RandomActs } from "../support/random-acts.ts";
import type { ArgsOf } from "../support/read-args.ts";
import { type Line, report } from "../support/report.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { startWriters, type Writers } from "../support/writers.ts";
import { type Endpoint, startEndpoint } from "./endpoint.ts";
import { mariadbRecords } from "./mariadb-records.ts";
import { startMoves } from "./moves.ts";
import { prepareWriters } from "./prepare.ts";
import { sqliteRecords } from "./sqlite-records.ts";

const options = {
  kills: { says: "how often each of the two is killed", count: [1, 10_000], default: 20 },
  writers: { says: "clients that write at the same time", count: [1, 10_000], default: 16 },
  attached: { says: "the rows of the records are in attached tables", flag: true },
  moves: { says: "the tenant moves into another Postgres and back all the while; that one is killed too", flag: true },
  endpoint: { says: "the records are in a service behind an endpoint datasource; that one is killed too", flag: true },
  mariadb: { says: "the same, with the records in MariaDB instead of SQLite", flag: true },
  plant: {
    says: "removes one acknowledged write from the log before the check, to show that the check finds it",
    flag: true,
  },
} as const;
type Args = ArgsOf<typeof options>;
type Print = (line: string) => void;

const chance = new SeededRandom(anySeed());

await runProgram({
  name: "faults",
  says: `Starts a server in a temporary directory with clients that write, kills the server and its Postgres again and again,
and then checks that every acknowledged write is in the log exactly once. Exits with 1 if one is not.`,
  options,
  run,
});

/**
 *   writers ──HTTP──► server ──► Postgres        followers ◄── stream ── server
 *   every call is remembered as         ▲ ▲
 *   acknowledged, refused or unknown    │ │ kill -9, SIGSTOP
 *
 * With `--moves` the tenant travels between that Postgres and another one, with `--endpoint` or `--mariadb` a service has the
 * records: each is killed too.
 *
 * Afterwards the auditor reads the tables themselves and compares them with the records.
 */
async function run(
  { kills, writers: count, attached, moves: isMoving, endpoint: isInSqlite, mariadb: isInMariadb, plant }: Args,
  print: Print,
) {
  const isElsewhere = isInSqlite || isInMariadb;
  const env = {
    ...(isElsewhere && { HOLDFAST_SCHEMA: "" }),
    ...((isMoving || isElsewhere) && { HOLDFAST_DATASOURCE_ALLOW_PRIVATE: "1" }),
  };
  const begun = performance.now();
  await using environment = await openFaultEnvironment({
    name: "faults",
    servers: [{ env }],
    postgres: "embedded",
    attached,
  });
  const { request, databaseUrl, closing, key } = environment;
  const [server] = environment.servers as readonly [KillableServer];
  const otherDir = await mkdtemp(join(tmpdir(), "holdfast-faults-other-"));
  closing(() => rm(otherDir, { recursive: true, force: true }));
  const other = isMoving ? await startEmbeddedPostgres({ dataDir: otherDir }) : undefined;
  closing(() => other?.stop());
  const records = isInMariadb ? await mariadbRecords() : isInSqlite ? sqliteRecords(otherDir) : undefined;
  const endpoint = records && (await startEndpoint(records));
  closing(() => endpoint?.stop());
  await endpoint?.register(request);
  const writers = startWriters(await prepareWriters(environment, count));
  const followers = [0, 1].map(() => follow(server.url, key));
  closing(() => followers.map((follower) => follower.close()));
  const moves = other && startMoves(server, key, otherDir);
  const { postgres, backend, frozen } = environment.faults(chance);
  const nemesis = createRandomActs<Fault>(
    {
      ...{ postgres, backend, frozen },
      server: { says: "kill -9 of the server, and started again at once", often: 1, act: () => server.kill() },
      service: { says: "kill -9 of the service", often: 1, act: async () => await endpoint?.kill() },
      otherPostgres: { says: "kill -9 of the other Postgres", often: 1, act: () => killPostgres(otherDir) },
      otherBackend: { says: "kill -9 of one of its processes", often: 1, act: () => killBackend(otherDir) },
    },
    chance,
  );
  const others: readonly Fault[] = endpoint ? ["service"] : other ? ["otherBackend", "otherPostgres"] : [];
  await underFire(nemesis, writers, { kills, others, print });
  print("no more faults: every open question is asked until it is answered");
  await writers.finish();
  await moves?.finish();
  const audited = await judge(databaseUrl, writers, followers, { plant, endpoint, print });
  const differing = attached ? await differingModels(databaseUrl) : [];
  const verdict = { ...audited, violations: [...audited.violations, ...differing] };
  const { acknowledged, unknown, abandoned } = writers.totals();
  const lines: readonly Line[] = [
    ...nemesis.lines().filter(([, count]) => count !== 0),
    ...(moves === undefined ? [] : [["moves that arrived", moves.arrived] as const]),
    ["longest time without an answer", `${(server.longestOutageMs / 1_000).toFixed(1)} s`],
    ["writes acknowledged", acknowledged],
    ["calls without an answer", unknown],
    ["writes given up with the outcome unknown", abandoned],
    ["  of these in the log", verdict.abandonedFound],
    ["entries in the log", verdict.entries],
    ["followers × entries heard", `${verdict.followers} × ${verdict.entries}`],
    ["acknowledged and lost", verdict.lost],
    ["written twice", verdict.duplicated],
    ["violations", verdict.violations.length],
    ["seconds", Math.round((performance.now() - begun) / 1_000)],
  ];
  process.stdout.write(report(lines, verdict.violations));
  return verdict.violations.length === 0;
}

type Fault = "server" | "postgres" | "backend" | "frozen" | "service" | "otherPostgres" | "otherBackend";

/** One fault after the other, each while writes are on their way. */
async function underFire(
  nemesis: RandomActs<Fault>,
  writers: Writers,
  { kills, others, print }: { readonly kills: number; readonly others: readonly Fault[]; readonly print: Print },
): Promise<void> {
  async function strike(fault: Fault, writes: number): Promise<void> {
    await writers.progress(writes + chance.below(100));
    // A move takes a second or two, and so does the way back after an outage: the faults come at any moment of it.
    if (others.length > 0) await pause(chance.below(3_000));
    await nemesis.one(fault);
  }
  for (let n = 1; n <= kills; n++) {
    await strike("server", 60);
    // In turn the postmaster, and one of the processes that it watches: that restarts all of them.
    await strike(n % 2 === 1 ? "postgres" : "backend", 60);
    const other = others[(n - 1) % others.length];
    if (other) await strike(other, 20);
    if (n % 7 === 0) await strike("frozen", 60);
    const { acknowledged, unknown } = writers.totals();
    print(
      `${n}/${kills}: the server and Postgres killed once more; ${acknowledged} acknowledged, ${unknown} calls without an answer`,
    );
  }
  await writers.progress(60);
}

async function judge(
  databaseUrl: string,
  writers: Writers,
  followers: readonly Follower[],
  { plant, endpoint, print }: Pick<Args, "plant"> & { readonly endpoint: Endpoint | undefined; readonly print: Print },
): Promise<Verdict> {
  await using database = await openDatabase(databaseUrl);
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
  const differences = (await endpoint?.differences(everything.rows)) ?? [];
  return { ...verdict, violations: [...verdict.violations, ...differences] };
}
