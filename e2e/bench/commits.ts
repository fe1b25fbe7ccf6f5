import { endProgram, firstLine, startProgram, wholeOutput } from "./processes.ts";
import type { ServerReady } from "./server.ts";
import { openStage, type RunningProgram, runAbreast, runLoad, type Stage } from "./stage.ts";
import { percentile, type Runs, summarize } from "./statistics.ts";
import { type Row, round } from "./table.ts";

const CONNECTIONS = 64;
const ORGANIZATIONS = 32;
const LARGE_LOG = 2_000_000;
/** Each moment is a noisy figure, so that there are many of them. */
const SHARE_SECONDS = 12;
const SLOW = "alter database slow set commit_delay = 2000; alter database slow set commit_siblings = 0";

/** About 1.05 KB, with an id and a key of its own every time. */
const create = JSON.stringify({
  id: "s[<id>]",
  idempotencyKey: "k[<id>]",
  data: { deckId: "deck-1", title: "A slide", order: 3, notes: "n".repeat(850) },
});
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

type Variant = readonly [name: string, run: () => Promise<number>];

/** Commits per second over HTTP, beside what the framework and the database can do at all, each variant in every round. */
export async function measureCommits({
  rounds,
  seconds,
  say,
}: {
  rounds: number;
  seconds: number;
  say(line: string): void;
}): Promise<Row[]> {
  const stage = await openStage();
  const echo = startProgram(new URL("echo.ts", import.meta.url));
  try {
    const echoUrl = (await firstLine<{ url: string }>(echo)).url;
    const floorUrl = await stage.database("floor");
    const one = await serverOn(stage, "one", 1);
    const single = await stage.server({
      databaseUrl: await stage.database("single"),
      organizations: 1,
      laneCommits: 1,
    });
    const many = await serverOn(stage, "many", ORGANIZATIONS);
    const slowUrl = await stage.database("slow");
    await stage.sql(slowUrl, SLOW);
    const slow = await stage.server({ databaseUrl: slowUrl, organizations: 1 });
    const slowSingle = await stage.server({ databaseUrl: slowUrl, organizations: 1, laneCommits: 1 });
    say(`filling a log with ${LARGE_LOG.toLocaleString("en-US")} entries`);
    const large = await largeServer(stage);
    const writes =
      (server: ServerReady, connections = CONNECTIONS, tokens = server.tokens) =>
      async () => {
        const requests = tokens.map((token) => ({ path: "/v1/models/slide", token, body: create }));
        return (await runLoad({ url: server.url, connections, seconds, requests })).perSecond;
      };
    const bulks = (server: ServerReady) => async () =>
      100 *
      (
        await runLoad({
          url: server.url,
          connections: 4,
          seconds,
          requests: [{ path: "/v1/commits/bulk", token: server.tokens[0] as string, body: bulk }],
        })
      ).perSecond;
    const variants: Variant[] = [
      [
        "echo",
        async () =>
          (await runLoad({ url: echoUrl, connections: CONNECTIONS, seconds, requests: [{ path: "/", body: create }] }))
            .perSecond,
      ],
      [
        "floor",
        async () =>
          (
            await wholeOutput<{ perSecond: number }>(
              startProgram(new URL("floor.ts", import.meta.url), [
                JSON.stringify({ url: floorUrl, connections: CONNECTIONS, seconds }),
              ]),
            )
          ).perSecond,
      ],
      [
        "rounds",
        async () =>
          (
            await wholeOutput<{ perSecond: number }>(
              startProgram(new URL("floor-rounds.ts", import.meta.url), [JSON.stringify({ url: floorUrl, seconds })]),
            )
          ).perSecond,
      ],
      ["one1", writes(one, 1)],
      ["one16", writes(one, 16)],
      ["one64", writes(one)],
      ["share", () => shareOfEcho(one, echoUrl, SHARE_SECONDS)],
      ["scoped64", writes(one, CONNECTIONS, [one.scoped])],
      ["single64", writes(single)],
      ["slow64", writes(slow)],
      ["slowSingle64", writes(slowSingle)],
      ["many1", writes(many, 1)],
      ["many16", writes(many, 16)],
      ["many64", writes(many)],
      ["large64", writes(large)],
      ["bulk", bulks(one)],
    ];
    const runs = await interleaved(variants, rounds, say);
    await checkLogs(stage, ["one", "single", "many", "slow", "large"]);
    return commitRows(runs);
  } finally {
    await endProgram(echo);
    await stage.close();
  }
}

/** Of what the framework alone answers, side by side: the median of the moments. */
async function shareOfEcho({ url, tokens: [token = ""] }: ServerReady, echoUrl: string, seconds: number) {
  const [bare = [], whole = []] = await runAbreast([
    { url: echoUrl, connections: CONNECTIONS, seconds, requests: [{ path: "/", body: create }] },
    { url, connections: CONNECTIONS, seconds, requests: [{ path: "/v1/models/slide", token, body: create }] },
  ]);
  const shares = whole.map((rate, i) => rate / (bare[i] as number));
  return percentile(
    shares.sort((a, b) => a - b),
    0.5,
  );
}

const serverOn = async (stage: Stage, database: string, organizations: number): Promise<RunningProgram & ServerReady> =>
  stage.server({ databaseUrl: await stage.database(database), organizations });

/** Each variant once per round, the order turned round every time: a machine that slows down slows all of them. */
async function interleaved(
  variants: readonly Variant[],
  rounds: number,
  say: (line: string) => void,
): Promise<Map<string, Runs>> {
  const values = new Map<string, number[]>(variants.map(([name]) => [name, []]));
  for (let n = 0; n < rounds; n++)
    for (const [name, run] of n % 2 === 0 ? variants : variants.toReversed()) {
      const value = await run();
      values.get(name)?.push(value);
      say(`round ${n + 1} of ${rounds}: ${name} ${round(value)}${name === "share" ? " of the echo" : "/s"}`);
    }
  return new Map([...values].map(([name, list]) => [name, summarize(list)]));
}

async function largeServer(stage: Stage): Promise<RunningProgram & ServerReady> {
  const databaseUrl = await stage.database("large");
  const server = await stage.server({ databaseUrl, organizations: 1 });
  await stage.sql(
    databaseUrl,
    `do $$ declare w int; begin select world into w from holdfast.head where schema_version > 0;
      insert into holdfast.log (world, sync_id, model, id, verb, data, groups, client_tx_id, actor, participant_kind, created_at)
        select w, n, 'slide', md5((n % 500000)::text), 'created', json_build_object('id', md5((n % 500000)::text), 'deckId', 'deck-1', 'notes', repeat('n', 850)),
          array['deck:deck-1'], md5('tx' || n), 'key_filler', 'system', now() from generate_series(1, ${LARGE_LOG}) n;
      insert into holdfast.receipt (world, participant, name, fingerprint, body, held, created_at)
        select w, 'system:key_filler', md5('tx' || n), md5('fp' || n), json_build_object('clientTxId', md5('tx' || n), 'lastSyncId', n), false, now() from generate_series(1, ${LARGE_LOG}) n;
      insert into holdfast.record (world, model, id, sync_id, data, groups, created_sync_id, created_by, created_at, updated_at, updated_by)
        select w, 'slide', md5(n::text), n + 1500000, json_build_object('id', md5(n::text), 'deckId', 'deck-1', 'notes', repeat('n', 850)), array['deck:deck-1'], n, 'system:key_filler', now(), now(), 'system:key_filler'
        from generate_series(0, 499999) n;
      update holdfast.head set sync_id = ${LARGE_LOG} where world = w; end $$`,
  );
  await stage.sql(databaseUrl, "vacuum analyze");
  await stage.sql(databaseUrl, "checkpoint");
  return server;
}

/** A fast log that has holes is worth nothing: positions have to be 1, 2, 3 … in every world. */
async function checkLogs(stage: Stage, databases: readonly string[]): Promise<void> {
  for (const name of databases) {
    const broken = await stage.sql(
      await stage.database(name),
      `select h.world from holdfast.head h left join lateral (select count(*) as n, coalesce(max(sync_id), 0) as last from holdfast.log l where l.world = h.world) l on true
       where l.n <> h.sync_id or l.last <> h.sync_id`,
    );
    if (broken.length > 0) throw new Error(`A log of "${name}" has holes.`);
  }
}

function commitRows(runs: ReadonlyMap<string, Runs>): Row[] {
  const of = (name: string) => runs.get(name) as Runs;
  const share = (name: string, base: string) => `${round(of(name).median / of(base).median)}`;
  const row = (what: string, name: string, against?: string, note?: string): Row => ({
    what,
    unit: "/s",
    runs: of(name),
    ...(against !== undefined && { against }),
    ...(note !== undefined && { note }),
  });
  return [
    row("floor: Fastify echo of the same body, 64 connections", "echo"),
    row("floor: transactions of one log line and one row, 64 connections", "floor"),
    row(
      "floor: transactions of 32 log lines, rows and receipts, one connection, no HTTP",
      "rounds",
      `${share("rounds", "echo")} of the echo`,
    ),
    row("commits, 1 organisation, 1 connection", "one1", `${share("one1", "echo")} of the echo at 64`),
    row("commits, 1 organisation, 16 connections", "one16", `${share("one16", "echo")} of the echo at 64`),
    row(
      "commits, 1 organisation, 64 connections",
      "one64",
      `${share("one64", "echo")} of the echo; ${share("one64", "floor")} of one-row transactions, ${share("one64", "rounds")} of those of 32`,
    ),
    {
      what: `the same, and the echo, in turn for half a second each, ${SHARE_SECONDS} s in all: the share of the echo`,
      unit: "",
      runs: of("share"),
      note: "target 0.35",
    },
    row(
      "the same with a token of one model and one group",
      "scoped64",
      `**${share("scoped64", "one64")}** of a secret key's`,
      "target 0.90",
    ),
    row(
      "the same, one commit per round",
      "single64",
      `the lane is **${share("one64", "single64")}×** this`,
      "target 5×",
    ),
    row("commits with a slow disk (2 ms a commit)", "slow64"),
    row(
      "the same, one commit per round",
      "slowSingle64",
      `the lane is **${share("slow64", "slowSingle64")}×** this`,
      "target 10×",
    ),
    row("commits, 32 organisations, 1 connection", "many1"),
    row("commits, 32 organisations, 16 connections", "many16"),
    row(
      "commits, 32 organisations, 64 connections",
      "many64",
      `**${share("many64", "one64")}** of one organisation`,
      "target 0.70",
    ),
    row(
      "commits, a log of 2 000 000 entries, 64 connections",
      "large64",
      `**${share("large64", "one64")}** of a log that began empty`,
      "target 0.90",
    ),
    row("bulk of 100, 4 connections: commits", "bulk", `${share("bulk", "one64")} of single commits`, "target 8 000/s"),
  ];
}
