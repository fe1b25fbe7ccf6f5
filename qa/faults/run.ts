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
import { anySeed } from "../support/program.ts";
import { createRandomActs, type RandomActs } from "../support/random-acts.ts";
import type { Found } from "../support/report.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { startWriters, type Writers } from "../support/writers.ts";
import { type Endpoint, startEndpoint } from "./endpoint.ts";
import { mariadbRecords } from "./mariadb-records.ts";
import { startMoves } from "./moves.ts";
import { prepareWriters } from "./prepare.ts";
import { sqliteRecords } from "./sqlite-records.ts";

export interface RunOptions {
  /** How often the server and Postgres are killed. */
  readonly kills: number;
  readonly writers: number;
  /** The rows of the records are in attached tables. */
  readonly attached: boolean;
  /** The tenant moves into another Postgres and back. */
  readonly moves: boolean;
  /** The records are in a service, which keeps them in SQLite or in MariaDB. */
  readonly endpoint: boolean;
  readonly mariadb: boolean;
  /** An acknowledged write is taken out of the log before the check. */
  readonly plant: boolean;
  print(line: string): void;
}

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
export async function runWrites(options: RunOptions): Promise<Found> {
  const {
    kills,
    writers: count,
    attached,
    moves: isMoving,
    endpoint: isInSqlite,
    mariadb: isInMariadb,
    print,
  } = options;
  const chance = new SeededRandom(anySeed());
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
  await underFire(nemesis, writers, { kills, others, chance, print });
  print("no more faults: every open question is asked until it is answered");
  await writers.finish();
  await moves?.finish();
  const verdict = await judge(databaseUrl, writers, followers, { ...options, service: endpoint });
  const { acknowledged, unknown, abandoned } = writers.totals();
  const lines: Found["lines"] = [
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
    ["seconds", Math.round((performance.now() - begun) / 1_000)],
  ];
  return { lines, violations: verdict.violations };
}

type Fault = "server" | "postgres" | "backend" | "frozen" | "service" | "otherPostgres" | "otherBackend";

/** One fault after the other, each while writes are on their way. */
async function underFire(
  nemesis: RandomActs<Fault>,
  writers: Writers,
  {
    kills,
    others,
    chance,
    print,
  }: Pick<RunOptions, "kills" | "print"> & { readonly others: readonly Fault[]; readonly chance: SeededRandom },
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
  { attached, plant, service, print }: RunOptions & { readonly service: Endpoint | undefined },
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
  const differences = (await service?.differences(everything.rows)) ?? [];
  const differing = attached ? await differingModels(databaseUrl) : [];
  return { ...verdict, violations: [...verdict.violations, ...differences, ...differing] };
}
