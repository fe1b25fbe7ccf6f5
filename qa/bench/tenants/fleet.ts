import { createHash } from "node:crypto";
import { newSecretToken } from "@holdfast/server";
import { summarize } from "../report/statistics.ts";
import { type Row, round } from "../report/table.ts";
import { cpuSecondsOf } from "../stage/cpu-seconds.ts";
import type { ServerReady } from "../stage/server.ts";
import { type Options, openStage, type RunningProgram, type Stage } from "../stage/stage.ts";
import { CONNECTIONS, rateOf, sendersOf, sendFor } from "./commit-rates.ts";
import { memoryOf, openIdle } from "./idle-streams.ts";

const ORGANIZATIONS = 2_000;
const FEW = 32;
const PROCESSES = 3;
const IDLE_SOCKETS = 10_000;
const IDLE_WARM_MS = 15_000;
const IDLE_MS = 30_000;

/** One server for many organizations: what their number costs, and what their idle streams cost. */
export async function measureFleet({ rounds, seconds, print }: Options): Promise<Row[]> {
  await using stage = await openStage();
  const { tokens } = await makeFleet(stage);
  print(`${ORGANIZATIONS} organizations made`);
  const one = await serverOf(stage, tokens);
  const manyOfFew = await inMoments(one.url, tokens, rounds, print);
  const idle = await idleSockets(stage, one, tokens, print);
  await one.stop();
  const servers = await Promise.all(Array.from({ length: PROCESSES }, () => serverOf(stage, tokens)));
  const urls = servers.map(({ url }) => url);
  const withStreams = await ratios(rounds, async () => {
    const without = await rateOf(urls, tokens, seconds);
    const streams = await openIdle(
      urls.map((url, i) => ({ url, tokens: tokens.filter((_, n) => n % PROCESSES === i), sockets: undefined })),
    );
    const beside = await rateOf(urls, tokens, seconds);
    await streams.close();
    print(`without streams ${round(without)}, with one of each organization ${round(beside)}`);
    return [without, beside];
  });
  for (const server of servers) await server.stop();
  return [
    {
      what: `commits/s of ${ORGANIZATIONS} organizations, of the rate with ${FEW}, one process, ${CONNECTIONS} connections`,
      unit: "",
      runs: summarize(manyOfFew),
      note: "target 0.75",
    },
    {
      what: `commits/s with an idle stream of each of ${ORGANIZATIONS} organizations, of the rate without, ${PROCESSES} processes, ${CONNECTIONS} connections; none fails`,
      unit: "",
      runs: summarize(withStreams),
      note: "target 0.85",
    },
    {
      what: `${IDLE_SOCKETS} idle sockets on one process: memory each`,
      unit: "kB",
      runs: summarize([idle.kilobytes]),
      note: "target 25",
    },
    {
      what: `${IDLE_SOCKETS} idle sockets: a core's time, process and Postgres`,
      unit: "%",
      runs: summarize([idle.percent]),
      note: "target 2",
    },
  ];
}

async function ratios(rounds: number, run: (order: boolean) => Promise<readonly [number, number]>): Promise<number[]> {
  const found: number[] = [];
  for (let n = 0; n < rounds; n++) {
    const [base, of] = await run(n % 2 === 0);
    found.push(of / base);
  }
  return found;
}

/** One organization is made over HTTP, the others are copies of it. */
async function makeFleet(stage: Stage): Promise<{ tokens: string[] }> {
  const databaseUrl = stage.postgres.url;
  const first = await stage.server({ databaseUrl });
  await first.stop();
  const tokens = Array.from({ length: ORGANIZATIONS }, () => newSecretToken(true));
  const hashes = tokens.map((token) => createHash("sha256").update(token).digest());
  await stage.sql(
    databaseUrl,
    `with made as (insert into holdfast.organization (id, name) select 'org_fleet_' || n, 'fleet ' || n from generate_series(1, $1::int) n returning id),
      tenants as (insert into holdfast.tenant (organization, livemode) select id, true from made returning id, organization),
      heads as (insert into holdfast.head (tenant, log_id, schema_version) select id, 'log_' || organization, 1 from tenants),
      schemas as (insert into holdfast.model_schema (tenant, version, hash, body)
        select w.id, s.version, s.hash, s.body from tenants w cross join lateral (select * from holdfast.model_schema limit 1) s)
    insert into holdfast.secret_key (id, tenant, hash, last4)
      select 'key_' || organization, id, ($2::bytea[])[substring(organization from 11)::int], 'last' from tenants`,
    [ORGANIZATIONS, hashes],
  );
  await stage.sql(databaseUrl, "vacuum analyze");
  return { tokens };
}

const serverOf = (stage: Stage, tokens: readonly string[]): Promise<RunningProgram & ServerReady> =>
  stage.server({ organizations: 0, tokens: tokens.slice(0, 1) });

const MOMENT_MS = 3_000;

/** Few and many organizations in turn, a moment each; of each pair of moments the share. The first ones are warm-up. */
async function inMoments(url: string, tokens: readonly string[], rounds: number, print: (line: string) => void) {
  const [few, many] = [await sendersOf([url], tokens.slice(0, FEW)), await sendersOf([url], tokens)];
  const shares: number[] = [];
  for (let n = -2; n < 2 * rounds; n++) {
    const first = n % 2 === 0 ? few : many;
    const second = first === few ? many : few;
    const rates = new Map([[first, await sendFor(first, MOMENT_MS)]]);
    rates.set(second, await sendFor(second, MOMENT_MS));
    const [ofFew = 0, ofMany = 0] = [rates.get(few), rates.get(many)];
    print(
      `${FEW} organizations ${round(ofFew)}, ${ORGANIZATIONS} organizations ${round(ofMany)}${n < 0 ? " (not counted)" : ""}`,
    );
    if (n >= 0) shares.push(ofMany / ofFew);
  }
  for (const sender of [...few, ...many]) sender.close();
  return shares;
}

async function idleSockets(
  stage: Stage,
  server: RunningProgram & ServerReady,
  tokens: readonly string[],
  print: (line: string) => void,
) {
  const pid = server.child.pid as number;
  const before = memoryOf(pid);
  const sockets = await openIdle([{ url: server.url, tokens, sockets: IDLE_SOCKETS }]);
  await pause(IDLE_WARM_MS);
  const kilobytes = (memoryOf(pid) - before) / IDLE_SOCKETS;
  const postgres = await postgresPids(stage);
  const cpu = () => [pid, ...postgres].reduce((sum, one) => sum + cpuSecondsOf(one), 0);
  const [begun, spent] = [performance.now(), cpu()];
  await pause(IDLE_MS);
  const percent = (100_000 * (cpu() - spent)) / (performance.now() - begun);
  print(`${IDLE_SOCKETS} idle sockets: ${round(kilobytes)} kB each, ${round(percent)} % of a core`);
  await sockets.close();
  return { kilobytes, percent };
}

const postgresPids = async (stage: Stage): Promise<number[]> =>
  (
    await stage.sql<{ pid: number }>(
      stage.postgres.url,
      "select pid from pg_stat_activity where pid <> pg_backend_pid()",
    )
  ).map(({ pid }) => pid);

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
