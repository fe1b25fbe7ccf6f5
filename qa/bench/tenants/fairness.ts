import pg from "pg";
import { summarize } from "../report/statistics.ts";
import { type Row, round } from "../report/table.ts";
import { endProgram, firstLine, startProgram } from "../stage/processes.ts";
import type { ServerReady } from "../stage/server.ts";
import { type Options, openStage, type RunningProgram, type Stage } from "../stage/stage.ts";
import type { HostilePlan } from "./hostile.ts";
import { mintTokens } from "./mint-tokens.ts";
import { afterSeconds, COMMITS_PER_SECOND, commitSteadily } from "./steady-commits.ts";

const QUIET_SECONDS = 8;
const SNAPSHOT_ROWS = 40_000;
const STARTING = 500;

/** What one tenant does beside another tenant's commits. */
interface Worst {
  readonly what: string;
  readonly does: HostilePlan["what"];
  readonly atOnce: number;
  /** Which of the organizations do it: from, to. */
  readonly by: readonly [number, number];
  /** Whether another process holds their heads meanwhile. */
  readonly holds?: true;
}

const WORST: readonly Worst[] = [
  { what: "32 commits of 4 MB at once", does: "large commits", atOnce: 32, by: [1, 2] },
  { what: "300 bulks of 100 commits", does: "bulks", atOnce: 300, by: [1, 2] },
  { what: "4 heads that another process holds", does: "small commits", atOnce: 32, by: [3, 7], holds: true },
  { what: "32 snapshots of 40 MB at once", does: "snapshots", atOnce: 32, by: [2, 3] },
];

interface Beside {
  readonly p99: number;
  readonly failed: number;
  /** Where another server with a Postgres of its own is sent the same: what two cores and one disk cost. */
  readonly floor: number;
}

export async function measureFairness({ rounds, seconds, print }: Options): Promise<Row[]> {
  await using stage = await openStage();
  await using otherStage = await openStage();
  const server = await hostileTenants(stage);
  const other = await hostileTenants(otherStage);
  const [victim = ""] = server.tokens;
  const quiet: number[] = [];
  const found = new Map(WORST.map(({ what }) => [what, [] as Beside[]]));
  await commitSteadily(server, victim, afterSeconds(QUIET_SECONDS));
  for (let n = 0; n < rounds; n++) {
    quiet.push((await commitSteadily(server, victim, afterSeconds(QUIET_SECONDS))).p99);
    print(`quiet: p99 ${round(quiet.at(-1) ?? 0)} ms`);
    for (const worst of WORST) {
      const measure = () => commitSteadily(server, victim, afterSeconds(Math.max(seconds, 6)));
      const measured = await besideWorst(stage, server, worst, measure);
      const floor = (await besideWorst(otherStage, other, worst, measure)).p99;
      found.get(worst.what)?.push({ ...measured, floor });
      print(
        `${worst.what}: p99 ${round(measured.p99)} ms, ${measured.failed} failed; ${round(floor)} ms when another server is sent the same`,
      );
    }
  }
  const starting = await startAtOnce(server, victim);
  print(`${STARTING} clients at once: ${starting.failed} failed requests, ${round(starting.seconds)} s`);
  const base = summarize(quiet).median;
  const failed = [...found.values()].flat().reduce((sum, one) => sum + one.failed, 0);
  return [
    {
      what: `another tenant's commits, ${COMMITS_PER_SECOND} a second, p99: quiet`,
      unit: "ms",
      runs: summarize(quiet),
    },
    ...WORST.map(({ what }) => {
      const all = found.get(what) ?? [];
      const runs = summarize(all.map(({ p99 }) => p99));
      const floor = summarize(all.map((one) => one.floor)).median;
      return {
        what: `the same beside ${what}`,
        unit: "ms",
        runs,
        against: `${round(runs.median / base)} × quiet`,
        note: `target 3 × and 250 ms; ${round(floor)} ms where another server on this machine is sent that`,
      };
    }),
    { what: "its commits that failed", unit: "", runs: summarize([failed]), note: "target 0" },
    {
      what: `${STARTING} clients that start at once: failed requests`,
      unit: "",
      runs: summarize([starting.failed]),
      note: "target 0",
    },
    { what: "the same: until the last one had its rows", unit: "s", runs: summarize([starting.seconds]) },
  ];
}

type Server = RunningProgram & ServerReady;

async function hostileTenants(stage: Stage): Promise<Server> {
  const server = await stage.server({ organizations: 8 });
  await fillForSnapshot(stage, server.organizations[2] as string);
  return server;
}

async function besideWorst<T>(
  stage: Stage,
  { url, organizations, tokens }: Server,
  { does, atOnce, by, holds }: Worst,
  measure: () => Promise<T>,
): Promise<T> {
  const holder = holds && (await holdHeads(stage, organizations.slice(...by)));
  const program = await beHostile({ url, what: does, tokens: tokens.slice(...by), atOnce });
  const measured = await measure();
  await program.stop();
  await holder?.stop();
  await pause(2_000);
  return measured;
}

/** In a process of its own: it would hold up who measures. */
async function beHostile(plan: HostilePlan): Promise<{ stop(): Promise<void> }> {
  const program = startProgram(new URL("hostile.ts", import.meta.url), [JSON.stringify(plan)]);
  await firstLine(program);
  return { stop: () => endProgram(program) };
}

async function holdHeads(stage: Stage, organizations: readonly string[]): Promise<{ stop(): Promise<void> }> {
  const client = new pg.Client({ connectionString: stage.postgres.url });
  await client.connect();
  await client.query("begin");
  await client.query(
    "select from holdfast.head where tenant in (select id from holdfast.tenant where organization = any($1::text[]) and livemode) order by tenant for update",
    [organizations],
  );
  return { stop: () => client.end() };
}

async function fillForSnapshot(stage: Stage, organization: string): Promise<void> {
  await stage.sql(
    stage.postgres.url,
    `do $$ declare w int; begin select id into w from holdfast.tenant where organization = '${organization}' and livemode;
      insert into holdfast.record (tenant, model, id, sync_id, data, groups, created_sync_id, created_by, created_at, updated_at, updated_by)
        select w, 'slide', 's' || n, n, json_build_object('id', 's' || n, 'deckId', 'deck-1', 'notes', repeat('n', 900)), array['deck:deck-1'], n, 'system:key_filler', now(), now(), 'system:key_filler'
        from generate_series(1, ${SNAPSHOT_ROWS}) n;
      update holdfast.head set sync_id = ${SNAPSHOT_ROWS} where tenant = w; end $$`,
  );
}

/** Clients with tokens of their own that all ask who they are, for the schema, and for the rows. */
async function startAtOnce(server: Server, token: string) {
  const tokens = await mintTokens(server, token, STARTING);
  let failed = 0;
  const begun = performance.now();
  await Promise.all(
    tokens.map(async (own) => {
      for (const path of ["/v1/identity", "/v1/schema", "/v1/snapshot"]) {
        const answer = await fetch(server.url + path, { headers: { authorization: `Bearer ${own}` } }).catch(
          () => undefined,
        );
        await answer?.arrayBuffer().catch(() => {});
        if (!answer?.ok) failed += 1;
      }
    }),
  );
  return { failed, seconds: (performance.now() - begun) / 1_000 };
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
