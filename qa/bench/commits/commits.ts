import { type Runs, summarize } from "../report/statistics.ts";
import { type Row, round } from "../report/table.ts";
import { creates, newSlide } from "../stage/creates.ts";
import type { LoadPlan } from "../stage/load.ts";
import { firstLine, startProgram, wholeOutput } from "../stage/processes.ts";
import type { ServerReady } from "../stage/server.ts";
import { type Options, openStage, type RunningProgram, runAbreast, runLoad, type Stage } from "../stage/stage.ts";
import { commitRows } from "./commit-rows.ts";

const CONNECTIONS = 64;
const ORGANIZATIONS = 32;
const LARGE_LOG = 2_000_000;
/** For each server of those that are sent to in turn. */
const TURNS_SECONDS = 12;
const SLOW = "alter database slow set commit_delay = 2000; alter database slow set commit_siblings = 0";

const bulk = JSON.stringify({
  commits: Array.from({ length: 100 }, (_, i) => ({
    clientTxId: `b[<id>]-${i}`,
    operations: [
      {
        action: "create",
        model: "slide",
        id: `b[<id>]-${i}`,
        data: { deckId: "deck-1", title: "A slide", order: i, notes: "n".repeat(850) },
      },
    ],
  })),
});

/** Measures one figure or several, each under its name. */
type Variant = () => Promise<Readonly<Record<string, number>>>;

/** Commits per second over HTTP, beside what the framework and the database can do at all, each variant in every round. */
export async function measureCommits({ rounds, seconds, print }: Options): Promise<Row[]> {
  await using stage = await openStage();
  using echo = startProgram(new URL("echo.ts", import.meta.url));
  const echoUrl = (await firstLine<{ url: string }>(echo)).url;
  const floorUrl = await stage.database("floor");
  const one = await stage.server({ database: "one" });
  const single = await stage.server({ database: "single", laneCommits: 1 });
  const many = await stage.server({ database: "many", organizations: ORGANIZATIONS });
  const slowUrl = await stage.database("slow");
  await stage.sql(slowUrl, SLOW);
  const slow = await stage.server({ databaseUrl: slowUrl });
  const slowSingle = await stage.server({ databaseUrl: slowUrl, laneCommits: 1 });
  const writes =
    (name: string, server: ServerReady, connections = CONNECTIONS): Variant =>
    async () => ({
      [name]: (await runLoad({ ...creates(server), connections, seconds })).perSecond,
    });
  const bulks: Variant = async () => {
    const [token = ""] = one.tokens;
    const requests = [{ path: "/v1/commits/bulk", token, body: bulk }];
    return { bulk: 100 * (await runLoad({ url: one.url, connections: 4, seconds, requests })).perSecond };
  };
  const floor =
    (name: string, program: string, plan: object): Variant =>
    async () => {
      const child = startProgram(new URL(program, import.meta.url), [JSON.stringify({ url: floorUrl, ...plan })]);
      return { [name]: (await wholeOutput<{ perSecond: number }>(child)).perSecond };
    };
  const variants: Variant[] = [
    () =>
      inTurn(
        {
          echo: { url: echoUrl, requests: [{ path: "/", body: newSlide }] },
          one64: creates(one),
          scoped64: creates(one, [one.scoped]),
          many64: creates(many),
        },
        { oneOfEcho: ["one64", "echo"], scopedOfOne: ["scoped64", "one64"], manyOfOne: ["many64", "one64"] },
      ),
    floor("floor", "floor.ts", { connections: CONNECTIONS, seconds }),
    floor("rounds", "floor-rounds.ts", { seconds }),
    writes("one1", one, 1),
    writes("one16", one, 16),
    writes("single64", single),
    writes("slow64", slow),
    writes("slowSingle64", slowSingle),
    writes("many1", many, 1),
    writes("many16", many, 16),
    bulks,
  ];
  const small = await interleaved(variants, rounds, print);
  // Not before: the database has work to do behind so many rows.
  print(`filling a log with ${LARGE_LOG.toLocaleString("en-US")} entries`);
  const large = await largeServer(stage);
  const beside = () =>
    inTurn({ small64: creates(one), large64: creates(large) }, { largeOfSmall: ["large64", "small64"] });
  const runs = new Map([...small, ...(await interleaved([beside], rounds, print))]);
  await checkLogs(stage, ["one", "single", "many", "slow", "large"]);
  return commitRows(runs);
}

type Target = Pick<LoadPlan, "url" | "requests">;

/**
 * What is compared with each other is sent to in turn, a moment each: each target's rate under its name, and of each share
 * the middle one of those of the moments.
 */
async function inTurn<Name extends string>(
  targets: Readonly<Record<Name, Target>>,
  shares: Readonly<Record<string, readonly [of: Name, base: Name]>>,
): Promise<Record<string, number>> {
  const plans = Object.values<Target>(targets);
  const results = await runAbreast(
    plans.map((plan) => ({ ...plan, connections: CONNECTIONS, seconds: TURNS_SECONDS })),
  );
  const moments = (name: Name) => results[Object.keys(targets).indexOf(name)] ?? [];
  const rates = (Object.keys(targets) as Name[]).map((name) => [name, middle(moments(name))]);
  const parts = Object.entries(shares).map(([name, [of, base]]) => [
    name,
    middle(moments(of).map((rate, i) => rate / (moments(base)[i] ?? 0))),
  ]);
  return Object.fromEntries([...rates, ...parts]);
}

const middle = (values: readonly number[]): number => summarize(values).median;

/** Each variant once per round, the order turned round every time: a machine that slows down slows all of them. */
async function interleaved(
  variants: readonly Variant[],
  rounds: number,
  print: (line: string) => void,
): Promise<Map<string, Runs>> {
  const values = new Map<string, number[]>();
  for (let n = 0; n < rounds; n++)
    for (const run of n % 2 === 0 ? variants : variants.toReversed()) {
      const figures = Object.entries(await run());
      for (const [name, value] of figures) values.set(name, [...(values.get(name) ?? []), value]);
      print(`round ${n + 1} of ${rounds}: ${figures.map(([name, value]) => `${name} ${round(value)}`).join(", ")}`);
    }
  return new Map([...values].map(([name, list]) => [name, summarize(list)]));
}

async function largeServer(stage: Stage): Promise<RunningProgram & ServerReady> {
  const databaseUrl = await stage.database("large");
  const server = await stage.server({ databaseUrl });
  await stage.sql(
    databaseUrl,
    `do $$ declare w int; begin select tenant into w from holdfast.head where schema_version > 0;
      insert into holdfast.log (tenant, sync_id, model, id, verb, data, groups, client_tx_id, actor, participant_kind, created_at)
        select w, n, 'slide', md5((n % 500000)::text), 'created', json_build_object('id', md5((n % 500000)::text), 'deckId', 'deck-1', 'notes', repeat('n', 850)),
          array['deck:deck-1'], md5('tx' || n), 'key_filler', 'system', now() from generate_series(1, ${LARGE_LOG}) n;
      insert into holdfast.receipt (tenant, key, fingerprint, body, held, created_at)
        select w, md5('tx' || n) || ' h', sha256(convert_to('fp' || n, 'UTF8')),
          json_build_array('stx_' || md5('tx' || n), n, 'log_filler', 1), false, now() from generate_series(1, ${LARGE_LOG}) n;
      insert into holdfast.record (tenant, model, id, sync_id, data, groups, created_sync_id, created_by, created_at, updated_at, updated_by)
        select w, 'slide', md5(n::text), n + 1500000, json_build_object('id', md5(n::text), 'deckId', 'deck-1', 'notes', repeat('n', 850)), array['deck:deck-1'], n, 'system:key_filler', now(), now(), 'system:key_filler'
        from generate_series(0, 499999) n;
      update holdfast.head set sync_id = ${LARGE_LOG} where tenant = w; end $$`,
  );
  await stage.sql(databaseUrl, "vacuum analyze");
  await stage.sql(databaseUrl, "checkpoint");
  return server;
}

/** A fast log that has holes is worth nothing: positions have to be 1, 2, 3 … in every tenant. */
async function checkLogs(stage: Stage, databases: readonly string[]): Promise<void> {
  for (const name of databases) {
    const broken = await stage.sql(
      await stage.database(name),
      `select h.tenant from holdfast.head h left join lateral (select count(*) as n, coalesce(max(sync_id), 0) as last from holdfast.log l where l.tenant = h.tenant) l on true
       where l.n <> h.sync_id or l.last <> h.sync_id`,
    );
    if (broken.length > 0) throw new Error(`A log of "${name}" has holes.`);
  }
}
