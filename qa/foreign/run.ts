import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { runSql } from "../../packages/server/src/testing/run-sql.ts";
import { createServerLog, endFaults } from "../fuzz/server/server-log.ts";
import { type FaultEnvironment, openFaultEnvironment, postgresOf } from "../support/fault-environment.ts";
import { type Follower, follow } from "../support/follower.ts";
import { holdfast } from "../support/holdfast-command.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { ENV, type Environment, openEnvironment, tell } from "./environment.ts";
import { type FileReport, tryFiles } from "./odd-files.ts";
import type { NeighbourFindings } from "./programs/neighbour.ts";
import type { ServiceCounts } from "./programs/owners-service.ts";
import { type Phase, type SqlWriter, startSqlWriter } from "./sql-writer.ts";
import { SOURCE_REQUESTS, startRequests, TABLE_REQUESTS, type TenantRequests } from "./tenant-requests.ts";
import type { Scale } from "./values/column-values.ts";

/** What the server reads from others: rows that SQL wrote, answers over HTTP, and files. */
export const SOURCES = ["tables", "answers", "files"] as const;
type Source = (typeof SOURCES)[number];

export interface RunOptions {
  /** Undefined: on a Postgres of its own. */
  readonly databaseUrl?: string;
  readonly seed: number;
  /** How often a quiet phase and an odd one follow each other. */
  readonly rounds: number;
  readonly phaseMs: number;
  readonly scale: Scale;
  /** Default: all. */
  readonly only?: readonly Source[];
  /** Pairs of a command and a file; undefined: all. */
  readonly files?: number;
  print(line: string): void;
}

export interface Findings {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly exits: number;
  readonly statements: number;
  readonly refused: number;
  readonly answers: ReadonlyMap<string, number>;
  readonly oddAnswers: Readonly<Record<string, number>>;
  readonly files: FileReport;
  readonly entries: number;
  readonly longestUnreadableMs: number;
  /** Milliseconds of the neighbour's requests. */
  readonly times: NeighbourFindings["times"];
  /** Between the end of the odd values and the moment when nothing was left to collect. */
  readonly settleMs: readonly number[];
  readonly seconds: number;
}

const LANES = 2;
const PATIENCE_MS = 120_000;

/** Phases in turn, in which a neighbour's requests are measured. At the end nothing may be left. */
export async function runForeign(options: RunOptions): Promise<Findings> {
  const { seed, rounds, phaseMs, scale, print, only = SOURCES } = options;
  const begun = performance.now();
  const log = createServerLog();
  await using ground = await openFaultEnvironment({
    name: "foreign",
    // As on a small machine: what holds too much in memory ends the process.
    servers: [{ node: ["--max-old-space-size=512"], env: ENV, onLog: log.onLog }],
    postgres: postgresOf(options.databaseUrl, "throwaway"),
  });
  const environment = await openEnvironment(ground, seed);
  const { server, withTables, withSource, service, neighbour } = environment;
  const violations: string[] = [];
  let current: Phase = "rest";
  const phaseOf = (source: Source) => () => (server.exit === undefined && only.includes(source) ? current : "rest");
  const isOn = (source: Source) => () => phaseOf(source)() === "odd";
  const measure = async (next: Phase): Promise<void> => {
    current = next;
    await tell(service, { isOdd: next === "odd" && only.includes("answers") });
    await tell(neighbour, next === "rest" ? {} : { phase: next });
  };
  const writers: SqlWriter[] = [];
  for (const [n, tenant] of withTables.entries())
    writers.push(
      await startSqlWriter({ databaseUrl: tenant.databaseUrl, seed: seed + n, scale, phase: phaseOf("tables") }),
    );
  const requests = [
    ...withTables.map((tenant, n) =>
      startRequests({
        tenant,
        requests: TABLE_REQUESTS,
        small: "/v1/models/paper/s50",
        seed: seed + n,
        lanes: LANES,
        isOn: isOn("tables"),
      }),
    ),
    startRequests({
      tenant: withSource,
      requests: SOURCE_REQUESTS,
      small: "/v1/models/slide/s1",
      seed,
      lanes: LANES,
      isOn: isOn("answers"),
    }),
  ];
  const followers = [...withTables, withSource].map(({ url, token }) => follow(url, token));
  const settleMs: number[] = [];

  for (let round = 1; round <= rounds && server.exit === undefined; round++) {
    for (const next of ["quiet", "beside"] as const) {
      await measure(next);
      await pause(phaseMs);
    }
    print(`round ${round} of ${rounds}: odd values`);
    await measure("odd");
    await pause(phaseMs);
    await tell(neighbour, {});
    await measure("rest");
    const ended = performance.now();
    for (const fault of await settled(environment)) violations.push(fault);
    settleMs.push(performance.now() - ended);
    print(`nothing is left after ${Math.round(settleMs.at(-1) ?? 0)} ms; ${violations.length} violations`);
  }

  await Promise.all([...writers, ...requests].map((one) => one.finish()));
  if (server.exit === undefined)
    violations.push(...(await settled(environment)), ...(await endState(environment, followers)));
  for (const follower of followers) follower.close();
  print("commands with odd files");
  const chance = SeededRandom.of(seed, 0);
  const files = only.includes("files") ? await tryAll(ground, environment, options, chance).catch(asFault) : NO_FILES;
  const measured = await tell<NeighbourFindings>(neighbour, {});
  const answered = await tell<ServiceCounts>(service, { isOdd: false });
  violations.push(...(await endFaults(server, log)));
  return {
    seed,
    violations: [
      ...violations,
      ...[...writers, ...requests].flatMap((one) => one.violations.slice(0, 20)),
      ...files.violations,
      ...measured.faults.map((fault) => `neighbour: ${fault}`),
    ],
    exits: server.exit === undefined ? 0 : 1,
    statements: writers.reduce((sum, one) => sum + one.statements, 0),
    refused: writers.reduce((sum, one) => sum + one.refused, 0),
    answers: sumOf(requests),
    oddAnswers: answered.odd,
    files,
    entries: followers.reduce((sum, { positions }) => sum + positions.length, 0),
    longestUnreadableMs: Math.max(...requests.map((one) => one.longestUnreadableMs)),
    times: measured.times,
    settleMs,
    seconds: (performance.now() - begun) / 1_000,
  };
}

const NO_FILES: FileReport = { tried: 0, violations: [] };

const asFault = (error: Error): FileReport => ({ tried: 0, violations: [`files: ${causeOf(error)}`] });

const causeOf = ({ message, cause }: Error): string =>
  cause instanceof Error ? `${message}: ${cause.message}` : message;

function sumOf(requests: readonly TenantRequests[]): Map<string, number> {
  const sum = new Map<string, number>();
  for (const { answers } of requests) for (const [what, n] of answers) sum.set(what, (sum.get(what) ?? 0) + n);
  return sum;
}

async function tryAll(
  { databaseUrl, masterKey }: FaultEnvironment,
  { server, spare, ask }: Environment,
  { files }: RunOptions,
  chance: SeededRandom,
): Promise<FileReport> {
  const file = join(tmpdir(), `holdfast-odd-${server.pid}.dump`);
  const { code, said } = await holdfast(["dump", file, "--org", spare.organization], { DATABASE_URL: databaseUrl });
  if (code !== 0) return { tried: 0, violations: [`dump ended with ${code}: ${said}`] };
  const dump = await readFile(file);
  await rm(file);
  const state = async () => {
    const [{ count } = { count: "" }] = await runSql<{ count: string }>(
      databaseUrl,
      "select count(*) from holdfast.organization",
    );
    const { version } = await ask(spare, "GET", "/v1/schema");
    return `${count} organizations and version ${version} of a schema`;
  };
  const given = { databaseUrl, url: server.url, masterKey, secretKey: spare.token, chance, state, dump };
  return await tryFiles({ ...given, ...(files !== undefined && { most: files }) });
}

/** Waits until what odd values have left is done. Returns what is not. */
async function settled({ server, withTables, withSource, ask }: Environment): Promise<string[]> {
  const until = performance.now() + PATIENCE_MS;
  const left = async (): Promise<string[]> => {
    const found: string[] = [];
    for (const { name, databaseUrl } of withTables) {
      const [{ count } = { count: "0" }] = await runSql<{ count: string }>(
        databaseUrl,
        "select count(*) from holdfast.captured_change",
      );
      if (count !== "0") found.push(`${name}: ${count} changes are not collected`);
    }
    const { status, last_error } = await ask(withSource, "GET", `/v1/datasources/${withSource.source}`);
    if (status !== "active") found.push(`the source is ${status}: ${last_error}`);
    for (const tenant of [...withTables, withSource]) {
      const { data } = await ask(tenant, "GET", "/v1/webhook_endpoints");
      for (const one of data as { id: string; status: string; lag: number }[]) {
        if (one.status === "disabled") await ask(tenant, "POST", `/v1/webhook_endpoints/${one.id}/enable`);
        if (one.status === "disabled" || one.lag > 0)
          found.push(`${tenant.name}: a webhook endpoint is ${one.status}, ${one.lag} behind`);
      }
    }
    return found;
  };
  for (;;) {
    const found = await left().catch((error: Error) => [causeOf(error)]);
    if (found.length === 0 || server.exit !== undefined || performance.now() > until) return found;
    await pause(200);
  }
}

/** What must be so when all is calm. */
async function endState(
  { withTables, withSource, ask }: Environment,
  followers: readonly Follower[],
): Promise<string[]> {
  const faults: string[] = [];
  const attempt = async (what: string, work: () => Promise<string | undefined>) => {
    const fault = await work().catch(causeOf);
    if (fault !== undefined) faults.push(`in the end, ${what}: ${fault}`);
  };
  for (const tenant of withTables) {
    await attempt(`small rows of ${tenant.name}`, async () => {
      const ids = Array.from({ length: 50 }, (_, n) => `s${n + 1}`);
      const { data } = await ask(tenant, "GET", `/v1/models/paper?ids=${ids}&limit=100`);
      for (const id of ids) await ask(tenant, "GET", `/v1/models/paper/${id}`);
      const missing = ids.filter((id) => !(data as { id: string }[]).some((one) => one.id === id));
      return missing.length > 0 ? `${missing} are not in a list` : undefined;
    });
    await attempt(`tables verify of ${tenant.name}`, () =>
      endsWell(["tables", "verify", "--org", tenant.organization], tenant.databaseUrl),
    );
  }
  const [first] = withTables;
  if (first) {
    const file = join(tmpdir(), `holdfast-odd-${process.pid}.dump.gz`);
    await attempt("a dump", () => endsWell(["dump", file, "--org", first.organization], first.databaseUrl));
    await attempt("its restoring", () => endsWell(["restore", file, "--new-id"], first.databaseUrl));
    await rm(file, { force: true });
  }
  await attempt("a write to the source", async () => {
    await ask(withSource, "POST", "/v1/models/task", { id: "last", data: { title: "Last" } });
    return undefined;
  });
  for (const [n, tenant] of [...withTables, withSource].entries()) {
    const { faults: seen = [], positions = [] } = followers[n] ?? {};
    const page = await ask(tenant, "GET", "/v1/log?limit=1");
    await followers[n]?.reaches(Number(page.stamp ?? 0));
    for (const fault of seen) faults.push(`the stream of ${tenant.name}: ${fault}`);
    if ((positions.at(-1) ?? 0) < Number(page.stamp ?? 0))
      faults.push(`the stream of ${tenant.name} ended at ${positions.at(-1)} of ${page.stamp}`);
  }
  return faults;
}

async function endsWell(words: readonly string[], databaseUrl: string): Promise<string | undefined> {
  const { code, said } = await holdfast(words, { DATABASE_URL: databaseUrl }, { mostMs: 600_000 });
  return code === 0 ? undefined : `it ended with ${code}: ${said.slice(0, 1_000)}`;
}
