import pg from "pg";
import type { HostilePlan } from "./hostile.ts";
import { mintTokens } from "./mint-tokens.ts";
import { endProgram, firstLine, startProgram } from "./processes.ts";
import { createSender } from "./sender.ts";
import type { ServerReady } from "./server.ts";
import { openStage, type RunningProgram, type Stage } from "./stage.ts";
import { percentile, summarize } from "./statistics.ts";
import { type Row, round } from "./table.ts";

const PER_SECOND = 100;
const QUIET_SECONDS = 8;
const SNAPSHOT_ROWS = 40_000;
const STARTING = 500;

interface Options {
  readonly rounds: number;
  readonly seconds: number;
  say(line: string): void;
}

/** What one tenant does to another tenant's commits. */
interface Worst {
  readonly what: string;
  readonly plan: HostilePlan;
  /** Organisations whose heads are locked meanwhile. */
  readonly holds?: readonly string[];
}

export async function measureFairness({ rounds, seconds, say }: Options): Promise<Row[]> {
  const stage = await openStage();
  try {
    const server = await stage.server({ databaseUrl: stage.postgres.url, organizations: 8 });
    const [victim = "", hostile = "", snapshots = "", ...held] = server.tokens;
    await fillForSnapshot(stage, server.organizations[2] as string);
    const { url } = server;
    const worst: Worst[] = [
      { what: "32 commits of 4 MB at once", plan: { url, what: "large commits", tokens: [hostile], atOnce: 32 } },
      { what: "300 bulks of 100 commits", plan: { url, what: "bulks", tokens: [hostile], atOnce: 300 } },
      {
        what: "4 heads that another process holds",
        plan: { url, what: "small commits", tokens: held.slice(0, 4), atOnce: 32 },
        holds: server.organizations.slice(3, 7),
      },
      { what: "32 snapshots of 40 MB at once", plan: { url, what: "snapshots", tokens: [snapshots], atOnce: 32 } },
    ];
    const quiet: number[] = [];
    const found = new Map(worst.map(({ what }) => [what, [] as { p99: number; failed: number }[]]));
    await measureVictim(server, victim, QUIET_SECONDS);
    for (let n = 0; n < rounds; n++) {
      quiet.push((await measureVictim(server, victim, QUIET_SECONDS)).p99);
      say(`quiet: p99 ${round(quiet.at(-1) ?? 0)} ms`);
      for (const { what, plan, holds } of worst) {
        const holder = holds && (await holdHeads(stage, holds));
        const program = await beHostile(plan);
        const measured = await measureVictim(server, victim, Math.max(seconds, 6));
        await program.stop();
        await holder?.stop();
        found.get(what)?.push(measured);
        say(`${what}: p99 ${round(measured.p99)} ms, ${measured.failed} failed`);
        await pause(2_000);
      }
    }
    const starting = await startAtOnce(server, victim);
    say(`${STARTING} clients at once: ${starting.failed} failed requests, ${round(starting.seconds)} s`);
    const base = summarize(quiet).median;
    const failed = [...found.values()].flat().reduce((sum, one) => sum + one.failed, 0);
    return [
      { what: `another tenant's commits, ${PER_SECOND} a second, p99: quiet`, unit: "ms", runs: summarize(quiet) },
      ...worst.map(({ what }) => {
        const runs = summarize((found.get(what) ?? []).map(({ p99 }) => p99));
        return {
          what: `the same beside ${what}`,
          unit: "ms",
          runs,
          against: `${round(runs.median / base)} × quiet`,
          note: "target 3 × and 250 ms",
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
  } finally {
    await stage.close();
  }
}

/** Commits at an even pace, whatever their answers take. */
async function measureVictim({ url }: ServerReady, token: string, seconds: number) {
  const body = JSON.stringify({ id: "v[<id>]", data: { deckId: "deck-1", title: "A slide" } });
  const sender = await createSender(url, 500, [{ path: "/v1/models/slide", token, body }]);
  const took: number[] = [];
  const sent: Promise<void>[] = [];
  let failed = 0;
  const start = performance.now();
  for (let n = 0; n < seconds * PER_SECOND; n++) {
    // A commit counts from when it was due: where the sender itself was held up, its commits waited too.
    const due = start + (n * 1_000) / PER_SECOND;
    const wait = due - performance.now();
    if (wait > 0) await pause(wait);
    const posted = sender.post();
    if (!posted) failed += 1;
    else
      sent.push(
        posted.then((one) => {
          took.push(performance.now() - due);
          failed += one.failed;
        }),
      );
  }
  await Promise.all(sent);
  sender.close();
  return {
    p99: percentile(
      took.sort((a, b) => a - b),
      0.99,
    ),
    failed,
  };
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
    "select from holdfast.head where world in (select id from holdfast.world where organization = any($1::text[]) and livemode) order by world for update",
    [organizations],
  );
  return { stop: () => client.end() };
}

async function fillForSnapshot(stage: Stage, organization: string): Promise<void> {
  await stage.sql(
    stage.postgres.url,
    `do $$ declare w int; begin select id into w from holdfast.world where organization = '${organization}' and livemode;
      insert into holdfast.record (world, model, id, sync_id, data, groups, created_sync_id, created_by, created_at, updated_at, updated_by)
        select w, 'slide', 's' || n, n, json_build_object('id', 's' || n, 'deckId', 'deck-1', 'notes', repeat('n', 900)), array['deck:deck-1'], n, 'system:key_filler', now(), now(), 'system:key_filler'
        from generate_series(1, ${SNAPSHOT_ROWS}) n;
      update holdfast.head set sync_id = ${SNAPSHOT_ROWS} where world = w; end $$`,
  );
}

/** Clients with tokens of their own that all ask who they are, for the schema, and for the rows. */
async function startAtOnce(server: RunningProgram & ServerReady, token: string) {
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
