import { setTimeout as pause } from "node:timers/promises";
import { sendAsJson } from "../../../scripts/testing/ask-json.ts";
import { summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import { openStage, type Stage } from "../stage/stage.ts";

const RECORDS = 1_000_000;
const WRITES_PER_SECOND = 200;

/** The log and the records that a million creates leave. */
const FILL = [
  `create temp table t as select tenant from holdfast.head where schema_version > 0`,
  `insert into holdfast.log (tenant, sync_id, model, id, verb, data, groups, client_tx_id, actor, participant_kind, created_at)
   select tenant, n, 'slide', md5(n::text), 'created', json_build_object('id', md5(n::text), 'deckId', 'deck-1', 'title', 'Slide ' || n), array['deck:deck-1'],
     'tx' || n, 'system:key_filler', 'system', now() from t, generate_series(1, ${RECORDS}) n`,
  `insert into holdfast.record (tenant, model, id, sync_id, data, groups, created_sync_id, created_by, created_at, updated_at, updated_by)
   select tenant, model, id, sync_id, data, groups, sync_id, actor, created_at, created_at, actor from holdfast.log`,
  `update holdfast.head h set sync_id = ${RECORDS}, other_sync_id = ${RECORDS}, last_at = now() from t where h.tenant = t.tenant`,
].join(";");

/** A tenant with a million records moves into another database while writes go on. */
export async function measureMoves({ rounds, print }: { rounds: number; print(line: string): void }): Promise<Row[]> {
  const found = { seconds: [] as number[], longest: [] as number[], quiet: [] as number[] };
  for (let n = 0; n < rounds; n++) {
    await using stage = await openStage();
    const { seconds, longestMs, quietMs, writes } = await moveOnce(stage, n);
    found.seconds.push(seconds);
    found.longest.push(longestMs);
    found.quiet.push(quietMs);
    print(
      `round ${n + 1} of ${rounds}: ${Math.round(seconds)} s, longest write ${Math.round(longestMs)} ms (before: ${Math.round(quietMs)}), ${writes} writes, none lost, none twice`,
    );
  }
  const named = `${RECORDS.toLocaleString("en-US")} records`;
  return [
    {
      what: `a tenant with ${named} moves, ${WRITES_PER_SECOND} writes/s beside`,
      unit: "s",
      runs: summarize(found.seconds),
    },
    {
      ...{ what: "the longest that a write waited meanwhile", unit: "ms", runs: summarize(found.longest) },
      note: "target 2 000 ms",
    },
    { what: "the longest in the seconds before", unit: "ms", runs: summarize(found.quiet) },
  ];
}

async function moveOnce(stage: Stage, n: number) {
  const databaseUrl = await stage.database("service");
  const server = await stage.server({ databaseUrl });
  await stage.sql(databaseUrl, FILL);
  await stage.sql(databaseUrl, "vacuum analyze");
  const token = server.tokens[0] as string;
  const writing = startWriting(server.url, token, `round${n}`);
  await pause(3_000);
  const quietMs = writing.longest();
  const target = new URL(await stage.database("theirs"));
  target.search = "?sslmode=disable";
  const begun = performance.now();
  const made = await ask(server.url, token, "POST", "/v1/datasources", {
    ...{ connection: "direct", connectionString: target.href },
  });
  if (made.status !== 201) throw new Error(`The datasource was refused: ${JSON.stringify(made.body)}`);
  while ((await ask(server.url, token, "GET", `/v1/datasources/${made.body.id}`)).body.status !== "active")
    await pause(100);
  const seconds = (performance.now() - begun) / 1_000;
  const { acknowledged, longestMs } = await writing.stop();
  const rows = await stage.sql<{ id: string; at: number }>(
    target.href.replace(/\?.*/, ""),
    `select id, sync_id::int as at from holdfast.log where sync_id > ${RECORDS}`,
  );
  const logged = new Map(rows.map(({ id, at }) => [id, at]));
  const wrong = [...acknowledged].filter(([id, at]) => logged.get(id) !== at);
  const [{ count } = { count: 0 }] = await stage.sql<{ count: number }>(
    target.href.replace(/\?.*/, ""),
    "select count(*)::int as count from holdfast.record",
  );
  if (wrong.length > 0 || rows.length !== logged.size || count !== RECORDS + rows.length)
    throw new Error(`${wrong.length} writes are lost, ${rows.length - logged.size} are there twice, ${count} records.`);
  return { seconds, longestMs, quietMs, writes: acknowledged.size };
}

/** Sends writes at a steady rate; one without an answer is sent again with its key until it has one. */
function startWriting(url: string, token: string, name: string) {
  const acknowledged = new Map<string, number>();
  const open = new Set<Promise<void>>();
  let longestMs = 0;
  let sent = 0;
  async function write(id: string): Promise<void> {
    const begun = performance.now();
    for (;;) {
      const { status, body } = await ask(url, token, "POST", "/v1/models/slide", {
        ...{ id, idempotencyKey: id, data: { deckId: "deck-1", title: id } },
      }).catch(() => ({ status: 0, body: {} as Record<string, unknown> }));
      if (status === 200) {
        acknowledged.set(id, Number(body.lastSyncId));
        break;
      }
      if (status !== 0 && status !== 503)
        throw new Error(`A write was answered with ${status}: ${JSON.stringify(body)}`);
      await pause(20);
    }
    longestMs = Math.max(longestMs, performance.now() - begun);
  }
  const timer = setInterval(() => {
    const one = write(`${name}-${++sent}`).finally(() => open.delete(one));
    open.add(one);
  }, 1_000 / WRITES_PER_SECOND);
  return {
    /** The longest so far, in milliseconds. It begins anew. */
    longest() {
      const before = longestMs;
      longestMs = 0;
      return before;
    },
    async stop() {
      clearInterval(timer);
      await Promise.all(open);
      return { acknowledged, longestMs };
    },
  };
}

async function ask(url: string, token: string, method: string, path: string, json?: object) {
  const answer = await sendAsJson(url + path, token, method, json);
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}
