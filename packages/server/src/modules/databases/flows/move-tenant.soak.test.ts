import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { until } from "../../../../../../scripts/testing/until.ts";
import { type AnotherDatabase, anotherDatabase } from "../../../testing/another-database.ts";
import { type Call, startApp } from "../../../testing/app.ts";
import { wholeLog } from "../../../testing/whole-log.ts";

const app = await startApp({ datasourcesAllowPrivate: true });
const { call: second } = await app.another();
const calls = [app.call, second];

const direct = (theirs: AnotherDatabase) => ({ connection: "direct", connectionString: theirs.connectionString });
const statusOf = async (id: unknown) => {
  const { status, body } = await app.call("GET", `/v1/datasources/${id}`);
  return status === 200 ? body.status : status;
};

const CUTTING_MS = 4_000;

interface Writer {
  readonly acknowledged: Map<string, number>;
  /** The longest time between a write's first attempt and its answer, in milliseconds. */
  longestMs: number;
  readonly failures: string[];
}

/** Writes until it is told to stop; a write without an answer is asked for again, with its key. */
async function write(call: Call, name: string, until: AbortSignal, result: Writer): Promise<void> {
  for (let n = 0; !until.aborted; n++) {
    const [id, key] = [`${name}-${n}`, `key-${name}-${n}`];
    const begun = performance.now();
    for (;;) {
      const answer = await call("POST", "/v1/models/slide", { key, json: { id, data: { title: name } } }).catch(
        (error: Error) => ({ status: 0, text: error.message, body: {} as Record<string, unknown> }),
      );
      if (answer.status === 200) {
        result.acknowledged.set(id, Number(answer.body.lastSyncId));
        break;
      }
      if (answer.status !== 503) {
        result.failures.push(answer.text);
        return;
      }
      await pause(20);
    }
    result.longestMs = Math.max(result.longestMs, performance.now() - begun);
    await pause(25);
  }
}

/** Every acknowledged write is in the log once, where its receipt says; the log is dense; records are its replay. */
async function check({ acknowledged, failures }: Writer): Promise<void> {
  expect(failures).toEqual([]);
  const log = await wholeLog(app.call);
  expect(log.map(({ syncId }) => syncId)).toEqual(log.map((_, i) => i + 1));
  const made = new Map(log.filter(({ verb }) => verb === "created").map(({ id, syncId }) => [id, syncId]));
  expect(log.filter(({ verb }) => verb === "created").length).toBe(made.size);
  const wrong = [...acknowledged].filter(([id, at]) => made.get(id) !== at);
  expect(wrong).toEqual([]);
  const records = new Set<string>();
  for (let after = ""; ; ) {
    const { body } = await app.call("GET", `/v1/models/slide?limit=100${after}`);
    for (const { id } of body.data as { id: string }[]) records.add(id);
    if (!body.has_more) break;
    after = `&starting_at=${body.next_cursor}`.replace("starting_at", "starting_after");
  }
  expect(records).toEqual(new Set(made.keys()));
}

async function writing(work: () => Promise<void>): Promise<Writer> {
  const stop = new AbortController();
  const result: Writer = { acknowledged: new Map(), longestMs: 0, failures: [] };
  const writers = Array.from({ length: 8 }, (_, n) =>
    write(calls[n % 2] as Call, `w${n}-${Math.random().toString(36).slice(2, 8)}`, stop.signal, result),
  );
  try {
    await work();
  } finally {
    stop.abort();
    await Promise.all(writers);
  }
  return result;
}

test("[DS23] a tenant moves there and back while writes go on: none is lost, none is doubled", async () => {
  const theirs = await anotherDatabase(app);
  const result = await writing(async () => {
    for (let times = 0; times < 2; times++) {
      const { body } = await app.call("POST", "/v1/datasources", { json: direct(theirs) });
      await until(async () => (await statusOf(body.id)) === "active");
      await pause(300);
      await app.call("DELETE", `/v1/datasources/${body.id}`);
      await until(async () => (await statusOf(body.id)) === 404);
    }
  });
  expect(result.acknowledged.size).toBeGreaterThan(100);
  await check(result);
});

test("[DS23] connections are cut at any moment of a move: it goes on by itself, and nothing is lost", async () => {
  const theirs = await anotherDatabase(app);
  const operator = await app.connect();
  const own = new URL(app.databaseUrl).pathname.slice(1);
  let cuts = 0;
  /** For a few seconds: on a busy machine a move would never end between two cuts. */
  const cutSome = async () => {
    for (const end = performance.now() + CUTTING_MS; performance.now() < end; ) {
      await pause(50 + Math.random() * 450);
      const { rows } = await operator.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname in ($1, $2) and application_name = '' and random() < 0.25`,
        [own, theirs.name],
      );
      cuts += rows.length;
    }
  };
  const result = await writing(async () => {
    for (let times = 0; times < 2; times++) {
      let id: unknown;
      let cutting = cutSome();
      await until(async () => {
        const { status, body } = await app.call("POST", "/v1/datasources", { json: direct(theirs) });
        id = body.id ?? (await listed());
        return status === 201 || body.code === "datasource_exists";
      });
      await until(async () => (await statusOf(id)) === "active");
      await cutting;
      cutting = cutSome();
      await until(async () => {
        const { status } = await app.call("DELETE", `/v1/datasources/${id}`);
        return status === 200 || status === 404;
      });
      await until(async () => (await statusOf(id)) === 404);
      await cutting;
    }
  });
  expect(cuts).toBeGreaterThan(10);
  await check(result);
}, 240_000);

async function listed(): Promise<unknown> {
  const { body } = await app.call("GET", "/v1/datasources");
  return (body.data as { id: string; connection: string }[] | undefined)?.find((one) => one.connection === "direct")
    ?.id;
}
