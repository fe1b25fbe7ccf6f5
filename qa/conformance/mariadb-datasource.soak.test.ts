import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { CommitRefusedError, createDatasourceHandler, type DatasourceHandlerOptions } from "@holdfast/sdk/datasource";
import { newMasterKey, startServer } from "@holdfast/server";
import { freshDatabase } from "@holdfast/server/testing";
import { type Connection, createConnection, type RowDataPacket } from "mysql2/promise";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStore } from "../../examples/mariadb-datasource/src/store.ts";
import { SCHEMA, TABLES } from "../../examples/mariadb-datasource/src/tables.ts";
import { createAsk } from "../../packages/conformance/src/transport/ask.ts";
import { until } from "../../scripts/testing/until.ts";
import { type Mariadb, missingMariadb, startMariadb } from "../support/mariadb.ts";
import { brokenBy } from "./broken-by.ts";
import { killGroup, readmeShell } from "./readme-shell.ts";

const missing = missingMariadb();
if (missing !== undefined) console.warn(`The tests of examples/mariadb-datasource are skipped: ${missing}`);

const SIGNING_KEY = `whsec_${Buffer.from("the key of the example over MariaDB").toString("base64")}`;
type Store = Awaited<ReturnType<typeof openStore>>;
type Operation = Parameters<Store["commit"]>[0]["operations"][number];

const opened: { close(): Promise<unknown> }[] = [];
let mariadb: Mariadb;
let store: Store;
beforeAll(async () => {
  if (missing !== undefined) return;
  mariadb = await startMariadb();
  // What a commit means does not depend on them.
  await (await sql()).query(
    "set global sql_mode = '', global time_zone = '+05:00', global innodb_lock_wait_timeout = 50",
  );
  store = await openStore(mariadb.url, SCHEMA, TABLES);
  opened.push(store);
  await (await sql()).query("insert into decks values ('plans', 'Plans')");
});
afterAll(async () => {
  for (const one of opened) await one.close();
  await mariadb?.[Symbol.asyncDispose]();
});

/** A program that writes the tables itself. */
async function sql(url = mariadb.url): Promise<Connection> {
  const connection = await createConnection(url);
  opened.push({ close: () => connection.end() });
  return connection;
}

const newSlide = (id: string, data: object = {}): Operation => ({
  ...{ action: "create", model: "slide", id, data: { deckId: "plans", title: "a", ...data } },
});
const change = (id: string, data: Record<string, unknown>): Operation => ({
  action: "update",
  model: "slide",
  id,
  data,
});
const commit = (...operations: Operation[]) =>
  store.commit({ clientTxId: randomUUID(), writtenBy: "user:ann", operations });

async function refusal(...operations: Operation[]): Promise<CommitRefusedError> {
  const error = await commit(...operations).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CommitRefusedError);
  return error as CommitRefusedError;
}

/** The sentences that a handler with this store does not keep. */
const broken = (options: Omit<DatasourceHandlerOptions, "signingKey">): Promise<string[]> =>
  brokenBy(createDatasourceHandler({ signingKey: SIGNING_KEY, onError: () => {}, ...options }).node, {
    ...{ signingKey: SIGNING_KEY, model: "slide", data: { deckId: "plans", title: "a", notes: { a: [1] } } },
    change: { title: "b", state: "done" },
  });

test.skipIf(missing)("[DS34] the example over MariaDB keeps every promise", async () => {
  expect(await broken(store)).toEqual([]);
});

test.skipIf(missing)("[DS58] the kit finds a handler whose cursor is an auto_increment of MariaDB", async () => {
  const reader = await sql();
  const events: Store["events"] = async ({ cursor, limit }) => {
    const [rows] = await reader.query<RowDataPacket[]>(
      "select seq, model, id from captured_change where seq > ? order by seq limit ?",
      [Number(cursor ?? 0), limit],
    );
    const found = rows.map(({ model, id }) => ({ model: String(model), id: String(id) }));
    return { events: found, cursor: String(rows.at(-1)?.seq ?? cursor ?? 0), more: rows.length === limit };
  };
  expect(await broken({ ...store, events })).toEqual([expect.stringContaining("while others commit")]);
});

async function namedSince(cursor: string | null): Promise<{ ids: string[]; cursor: string | null }> {
  const ids: string[] = [];
  for (let at = cursor; ; ) {
    const page = await store.events({ cursor: at, limit: 100 });
    ids.push(...page.events.map(({ id }) => id));
    if (!page.more) return { ids, cursor: page.cursor };
    at = page.cursor;
  }
}

test.skipIf(missing)("[DS58] [DS170] a transaction that began first and commits last is named", async () => {
  const { cursor } = await namedSince(null);
  const [slow, fast] = [await sql(), await sql()];
  await slow.beginTransaction();
  await slow.query("insert into slides (id, deck_id, title) values ('slow', 'plans', 'a')");
  await fast.query("insert into slides (id, deck_id, title) values ('fast', 'plans', 'a')");
  await commit(newSlide("ours"));
  const before = await namedSince(cursor);
  expect(before.ids).toEqual(["fast", "ours"]);
  await slow.commit();
  const after = await namedSince(before.cursor);
  expect(after.ids).toEqual(["slow"]);
  expect((await namedSince(cursor)).ids).toEqual(["fast", "ours", "slow"]);
});

test.skipIf(missing)("[DS58] changes that are rolled back are not named, nor wait others for them", async () => {
  const { cursor } = await namedSince(null);
  const connection = await sql();
  await connection.beginTransaction();
  await connection.query("insert into slides (id, deck_id, title) values ('never', 'plans', 'a')");
  await connection.rollback();
  await commit(newSlide("later"));
  expect((await namedSince(cursor)).ids).toEqual(["later"]);
});

test.skipIf(missing)(
  "[DS31] readers that come at the same time are told the same, and none misses a change",
  async () => {
    const { cursor } = await namedSince(null);
    const ids = Array.from({ length: 60 }, (_, n) => `many${n}`);
    const readers = Array.from({ length: 4 }, async () => {
      const named = new Set<string>();
      for (let at = cursor; named.size < ids.length; ) {
        const page = await store.events({ cursor: at, limit: 7 });
        for (const { id } of page.events) named.add(id);
        at = page.cursor;
      }
      return named;
    });
    await Promise.all(ids.map((id) => commit(newSlide(id))));
    for (const named of await Promise.all(readers)) expect([...named].sort()).toEqual([...ids].sort());
  },
);

test.skipIf(missing)("[DS29] ids are compared byte by byte, with blanks at the end", async () => {
  const ids = ["id", "ID", "id ", "ïd", "i\u0308d"];
  await commit(...ids.map((id) => newSlide(id, { title: `of ${id}` })));
  for (const id of ids) expect((await store.load("slide", [id])).map((one) => one.data.title)).toEqual([`of ${id}`]);
  expect((await refusal(change("Id", { title: "b" }))).details.code).toBe("not_there");
});

test.skipIf(missing)(
  "[DS31] a record comes back with the values that were given, and with the table's defaults",
  async () => {
    const values = { price: 0.1 + 0.2, hidden: true, shownAt: "2026-01-02T03:04:05.600Z", title: "Ünï 😀" };
    for (const notes of [{ a: [1, "x", null] }, "text", 5, false, [], null]) {
      const id = randomUUID();
      const answer = await commit(newSlide(id, { ...values, notes }));
      const data = { deckId: "plans", state: "draft", ...values, notes };
      expect(answer).toEqual([{ model: "slide", id, data }]);
      expect(await store.load("slide", [id])).toEqual([{ id, data }]);
    }
  },
);

const REFUSED: Record<string, [Record<string, unknown>, { code?: string; field?: string }]> = {
  "a check": [{ title: "" }, { code: "4025", field: "title" }],
  "a check of values": [{ state: "odd" }, { code: "4025", field: "state" }],
  "a text that is too long": [{ title: "x".repeat(201) }, { code: "1406", field: "title" }],
  "null where it may not be": [{ title: null }, { code: "1048", field: "title" }],
  "a foreign key": [{ deckId: "nope" }, { code: "1452", field: "deckId" }],
  "another blank in a foreign key": [{ deckId: "plans " }, { code: "1452", field: "deckId" }],
  "a time that no column can have": [{ shownAt: "+020000-01-01T00:00:00Z" }, { code: "1292", field: "shownAt" }],
  "what is no time": [{ shownAt: "never" }, { field: "shownAt" }],
  "what is no number": [{ price: "1" }, { field: "price" }],
  "an unknown field": [{ constructor: 1 }, { field: "constructor" }],
};

test.skipIf(missing).each(Object.keys(REFUSED))("[DS29] a commit is refused with its field: %s", async (name) => {
  const [data, details] = REFUSED[name] as (typeof REFUSED)[string];
  const [id, other] = [randomUUID(), randomUUID()];
  await commit(newSlide(id));
  expect((await refusal(newSlide(other), change(id, data))).details).toEqual({ ...details, operation: 1 });
  expect(await store.load("slide", [other])).toEqual([]);
});

test.skipIf(missing)("[DS29] a trigger's signal refuses a commit with its message", async () => {
  const owner = await sql();
  await owner.query(`create trigger no_secrets before update on slides for each row
    if new.title = 'secret' then signal sqlstate '45000' set message_text = 'Keep it to yourself.'; end if`);
  const id = randomUUID();
  await commit(newSlide(id));
  const { message, details } = await refusal(change(id, { title: "secret" }));
  expect(message).toBe("Keep it to yourself.");
  expect(details).toEqual({ code: "1644", operation: 0 });
  await owner.query("drop trigger no_secrets");
});

test.skipIf(missing)(
  "[DS30] a row that another transaction has locked is no refusal, and the commit can come again",
  async () => {
    const id = randomUUID();
    await commit(newSlide(id));
    const owner = await sql();
    await owner.beginTransaction();
    await owner.query("update slides set title = 'mine' where id = ?", [id]);
    const one = { clientTxId: randomUUID(), writtenBy: "user:ann", operations: [change(id, { title: "theirs" })] };
    const error = await store.commit(one).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ errno: 1205 });
    await owner.commit();
    await store.commit(one);
    expect((await store.load("slide", [id]))[0]?.data.title).toBe("theirs");
  },
);

test.skipIf(missing)("[DS30] connections that the database ends are replaced", async () => {
  await Promise.all(Array.from({ length: 10 }, () => commit(newSlide(randomUUID()))));
  const owner = await sql();
  const [others] = await owner.query<RowDataPacket[]>(
    "select id from information_schema.processlist where user = 'app' and id <> connection_id()",
  );
  for (const { id } of others) await owner.query("kill ?", [id]);
  await until(() => commit(newSlide(randomUUID())));
  expect(others.length).toBeGreaterThan(5);
});

test.skipIf(missing)("[DS30] commits that lock each other's rows are all done", async () => {
  const [a, b] = [randomUUID(), randomUUID()];
  await commit(newSlide(a, { price: 0 }), newSlide(b, { price: 0 }));
  const commits = Array.from({ length: 40 }, (_, n) =>
    commit(...(n % 2 ? [a, b] : [b, a]).map((id) => change(id, { price: n }))),
  );
  expect((await Promise.all(commits)).flat()).toHaveLength(80);
});

test.skipIf(missing)(
  "[DS29] a commit that comes many times at once happens once, also if the first is refused",
  async () => {
    const id = randomUUID();
    const one = { clientTxId: randomUUID(), writtenBy: "user:ann", operations: [newSlide(id)] };
    const answers = await Promise.all(Array.from({ length: 9 }, () => store.commit(one)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    const taken = { ...one, clientTxId: randomUUID() };
    const results = await Promise.allSettled(Array.from({ length: 9 }, () => store.commit(taken)));
    expect(
      results.map((result) => result.status === "rejected" && result.reason instanceof CommitRefusedError),
    ).toEqual(Array.from({ length: 9 }, () => true));
  },
);

test.skipIf(missing)("[DS29] [DS31] each command of the page works, and any program may write the tables", async () => {
  const readme = readmeShell("examples/mariadb-datasource/README.md", { SIGNING_KEY });
  opened.push({ close: async () => readme.close() });
  const blocks = [...readme.text.matchAll(/```sh\n([^`]*)```/g)].map(([, block = ""]) => block.trim());
  const line = (part: string) => blocks.flatMap((block) => block.split("\n")).find((one) => one.includes(part)) ?? part;
  const folder = join(mariadb.folder, "readme");
  // The database of this file stands for the one that the page starts.
  const words: Record<string, string> = { "/tmp/slides.sock": mariadb.socket, "/tmp/slides": folder };
  const done = async (command: string, env: Record<string, string> = {}) => {
    const { ended, printed } = readme.run(command, words, env);
    expect(await ended, `${command}\n${printed()}`).toBe(0);
    return printed();
  };
  await done(line("create database slides"));
  const service = readme.run(line("npm start --prefix"), words, {
    PORT: "0",
    MARIADB_URL: mariadb.url.replace(/app$/, "slides"),
  });
  await until(() => expect(service.printed()).toMatch(/at http:/));
  words["http://127.0.0.1:4000/"] = /http:\/\/127\.0\.0\.1:\d+\//.exec(service.printed())?.[0] ?? "";

  const { url: databaseUrl } = await freshDatabase();
  const server = await startServer({
    ...{ databaseUrl, adminToken: "admin", masterKeys: [newMasterKey()], port: 0, datasourcesAllowPrivate: true },
  });
  words["http://127.0.0.1:8787"] = server.url;
  const admin = createAsk(server.url, "admin");
  const { body: organization } = await admin.ask("POST", "/v1/organizations", { json: { name: "o" } });
  const json = { organization: organization.id, livemode: true };
  const HOLDFAST_SECRET_KEY = String((await admin.ask("POST", "/v1/secret_keys", { json })).body.token);
  const env = { HOLDFAST_SECRET_KEY, HOLDFAST_URL: server.url };
  const registering = blocks.find((block) => block.includes("schema push")) ?? "";
  // Without the lines that set keys.
  await done(registering.slice(registering.indexOf("SOURCE=")), env);

  await done(line("insert into decks"));
  const listing = line("/v1/models/deck");
  await until(async () => expect(await done(listing, env)).toContain("Plans"));
  expect(await done(line("/v1/models/slide"), env)).toContain("lastSyncId");
  expect(await done(line("select id, title"))).toContain("s1\tWelcome\t1.5\tdraft");
  expect(await done(line("npm run conformance"))).toMatch(/ 0 failed/);

  const { ask, close } = createAsk(server.url, HOLDFAST_SECRET_KEY);
  const refused = await ask("PATCH", "/v1/models/slide/s1", { json: { data: { deckId: "nope" } } });
  expect(refused.body).toMatchObject({ code: "source_refused", param: "data.deckId", source: { code: "1452" } });
  killGroup(service.child, "SIGINT");
  await service.ended;
  close();
  admin.close();
  await server.close();
});
