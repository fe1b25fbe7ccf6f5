import { referenceSchema } from "../../packages/server/src/testing/reference-schema.ts";
import { openFaultEnvironment, postgresOf } from "../support/fault-environment.ts";
import type { KillableServer } from "../support/killable-server.ts";
import { type Actors, actorsFor, type Scope } from "./exchange/actors.ts";
import { Memory } from "./exchange/memory.ts";
import { createRoutes } from "./exchange/routes.ts";
import { Totals } from "./exchange/totals.ts";
import { auditSight, auditTenant, readTenant } from "./judge/audit.ts";
import { readDescription } from "./judge/description.ts";
import type { Judging } from "./judge/judge.ts";
import { type Firing, fire, type Violation } from "./send/fire.ts";
import { playScripts, type Streams } from "./send/frames.ts";
import { openHeads } from "./server/heads.ts";
import { createServerLog, endFaults } from "./server/server-log.ts";

export interface RunOptions {
  /** Undefined: on a Postgres of its own. */
  readonly databaseUrl?: string;
  readonly requests: number;
  readonly seed: number;
  readonly connections: number;
  print(line: string): void;
}

export interface Findings {
  readonly seed: number;
  readonly totals: Totals;
  readonly streams: Streams;
  readonly violations: readonly Violation[];
  /** Requests that were refused without concurrent writes, and left every log's head unchanged. */
  readonly refusedQuietly: number;
  /** Entries in the logs that were read in the end. */
  readonly entries: number;
  readonly exits: number;
  readonly seconds: number;
}

/** The share of requests that are sent one after the other, to see their effects on the logs. */
const QUIET_SHARE = 0.1;
const SOCKETS_SHARE = 0.02;

const ENV = {
  // Actors push their schemas themselves.
  HOLDFAST_SCHEMA: "",
  HOLDFAST_LOG_LEVEL: "info",
  // Rate limits would refuse most requests before they are handled.
  ...{ HOLDFAST_RATE_RK: "0", HOLDFAST_RATE_EK: "0", HOLDFAST_RATE_FAILED_AUTH: "0" },
};

/** Fires generated requests and frames at a server of its own, and judges every answer. */
export async function runFuzz({ databaseUrl, requests, seed, connections, print }: RunOptions): Promise<Findings> {
  const begun = performance.now();
  const log = createServerLog();
  await using environment = await openFaultEnvironment({
    name: "fuzz",
    servers: [{ env: ENV, onLog: log.onLog }],
    postgres: postgresOf(databaseUrl, "throwaway"),
  });
  const { adminToken, key: secretKey } = environment;
  const [server] = environment.servers as readonly [KillableServer];
  const { url } = server;
  const heads = await openHeads(environment.databaseUrl);
  environment.closing(() => heads.close());
  const actors = await actorsFor(url, { secretKey, adminToken, models: referenceSchema.models });
  const memory = new Memory(actors);
  const shown = new Map<string, Map<Scope, Set<number>>>();
  const judging: Judging = {
    actors,
    schema: referenceSchema,
    url,
    adminToken,
    secrets: memory.secrets,
    expectResponse: readDescription((await (await fetch(`${url}/openapi.json`)).json()) as Record<string, unknown>),
    shown: ({ who }, syncId) => remember(shown, who.tenant ?? "", who.scope as Scope, syncId),
  };
  const totals = new Totals();
  const violations: Violation[] = [];
  const isOver = () => server.exit !== undefined;
  const firing: Firing = { memory, judging, routes: createRoutes(), totals, violations, isOver, print };
  const loud = Math.ceil(requests * (1 - QUIET_SHARE));
  const sockets = Math.ceil(requests * SOCKETS_SHARE);
  print(`${loud} requests over ${connections} connections, and ${sockets} sockets; seed ${seed}`);
  const [, streams] = await Promise.all([
    fire(firing, { requests: loud, lanes: connections, seed }),
    playScripts(sockets, seed, memory, judging, (fault, script) =>
      violations.push({ fault: `${fault}; the script: ${JSON.stringify(script).slice(0, 1_500)}` }),
    ),
  ]);
  print(`${requests - loud} requests one after the other, with an eye on the logs`);
  const { refusedQuietly } = await fire(firing, {
    requests: requests - loud,
    lanes: 1,
    seed: seed + 1_000_000,
    heads,
  });
  const entries = isOver() ? 0 : await audit(url, actors, shown, (fault) => violations.push({ fault }));
  for (const fault of await endFaults(server, log)) violations.push({ fault });
  for (const token of log.secrets)
    if (memory.secrets.has(token) || token === adminToken) violations.push({ fault: "a token is in the server's log" });
  return {
    seed,
    totals,
    streams,
    violations,
    refusedQuietly,
    entries,
    exits: isOver() ? 1 : 0,
    seconds: (performance.now() - begun) / 1_000,
  };
}

type ShownByTenant = Map<string, Map<Scope, Set<number>>>;

function remember(shown: ShownByTenant, tenant: string, scope: Scope, syncId: number): void {
  const ofTenant = shown.get(tenant) ?? new Map<Scope, Set<number>>();
  shown.set(tenant, ofTenant);
  const positions = ofTenant.get(scope) ?? new Set<number>();
  ofTenant.set(scope, positions.add(syncId));
}

/** Audits the logs of the tenants whose schema stayed. Returns the number of entries. */
async function audit(
  url: string,
  actors: Actors,
  shown: ShownByTenant,
  report: (fault: string) => void,
): Promise<number> {
  let entries = 0;
  for (const name of ["live", "test", "theirs"]) {
    const holder = actors.holders.get(name);
    const tenant = await readTenant(url, name, holder?.token ?? "");
    entries += tenant.log.length;
    const seen = shown.get(holder?.tenant ?? "") ?? new Map();
    for (const fault of [...auditTenant(tenant), ...auditSight(referenceSchema, tenant, seen)].slice(0, 5))
      report(fault);
  }
  return entries;
}
