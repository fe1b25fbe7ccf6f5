import { afterAll, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../../scripts/testing/temporary-folder.ts";
import { until } from "../../../../../../scripts/testing/until.ts";
import { newMasterKey, startServer } from "../../../server.ts";
import { type AnotherDatabase, anotherDatabase } from "../../../testing/another-database.ts";
import { ADMIN, type Answer, type App, type Call, caller, startApp } from "../../../testing/app.ts";
import { freshDatabases } from "../../../testing/database.ts";
import { commandLine } from "../../../testing/programs/command-line.ts";
import { referenceSchema } from "../../../testing/reference-schema.ts";
import { runSql } from "../../../testing/run-sql.ts";
import { newSigningKey, startSourceService } from "../../../testing/source-service.ts";
import { openStream } from "../../../testing/stream/stream.ts";
import { wholeLog } from "../../../testing/whole-log.ts";

const app = await startApp({ datasourcesAllowPrivate: true });
const another = freshDatabases();
const { run } = commandLine(app, temporaryFolder("restored-databases"));

const direct = ({ connectionString }: AnotherDatabase) => ({ connection: "direct", connectionString });
const datasource = async (call: Call, id: unknown) => (await call("GET", `/v1/datasources/${id}`)).body;
const settled = (call: Call, id: unknown) => until(async () => (await datasource(call, id)).status === "active");
const create = (call: Call, id: string): Promise<Answer> =>
  call("POST", "/v1/models/slide", { key: `key-${id}`, json: { id, data: { title: id } } });
const statusOf = async (call: Call, id: string) => (await call("GET", `/v1/models/slide/${id}`)).status;
const back = (call: Call, id: string) => until(async () => (await statusOf(call, id)) === 200);
const logIdOf = async ({ sql }: AnotherDatabase) =>
  (await sql<{ log_id: string }>("select log_id from holdfast.head"))[0]?.log_id;

async function register(call: Call, theirs: AnotherDatabase): Promise<string> {
  const { status, body } = await call("POST", "/v1/datasources", { json: direct(theirs) });
  expect([status, body]).toEqual([201, body]);
  await settled(call, body.id);
  return String(body.id);
}

async function remove(call: Call, id: string): Promise<void> {
  expect((await call("DELETE", `/v1/datasources/${id}`)).status).toBe(200);
  await until(async () => (await call("GET", `/v1/datasources/${id}`)).status === 404);
}

test("[DS60] [DS145] a tenant's database is restored from an older backup: a new log id, and keys of lost writes work again", async () => {
  const { call, keys } = app;
  const theirs = await anotherDatabase(app);
  const id = await register(call, theirs);
  const kept = await create(call, "kept");
  const backup = await theirs.backUp();
  await until(async () => (await create(call, "lost")).status === 200);
  const lost = await create(call, "lost");
  const stream = await openStream(app.url);
  stream.send({ frame: "hello", token: keys.live });
  const { logId } = await stream.next("welcome");
  await backup.restore();
  await stream.closed;
  await back(call, "kept");

  expect(await statusOf(call, "lost")).toBe(404);
  const again = await openStream(app.url);
  again.send({ frame: "hello", token: keys.live, log: logId, since: Number(lost.body.lastSyncId) });
  expect((await again.next("welcome")).logId).not.toBe(logId);
  await again.close();
  // A write that the backup has is repeated, one that it lacks is made.
  expect((await create(call, "kept")).body).toEqual(kept.body);
  expect((await create(call, "lost")).status).toBe(200);
  const entries = await wholeLog(call);
  expect(entries.filter((entry) => entry.id === "lost")).toHaveLength(1);
  expect(entries.map(({ syncId }) => syncId)).toEqual(entries.map((_, n) => n + 1));
  await remove(call, id);
});

test("[DS60] a dump is loaded into the database while the server uses it: it notices within a second", async () => {
  const { call } = app;
  const theirs = await anotherDatabase(app);
  const id = await register(call, theirs);
  await create(call, "before");
  const before = await logIdOf(theirs);
  await theirs.sql("delete from holdfast.log_epoch");
  await theirs.sql("insert into holdfast.log_epoch (epoch, origin) values ('of the dump', '1/00000001/2/3')");
  await until(async () => (await logIdOf(theirs)) !== before);
  await settled(call, id);
  await back(call, "before");
  await remove(call, id);
});

test("[DS61] [DS149] [DS148] [DS147] a tenant's database is restored to before the tenant came: 503 with the reason, and a newer backup or the operator mends it", async () => {
  const { call, organization } = app;
  const theirs = await anotherDatabase(app);
  const empty = await theirs.backUp();
  const id = await register(call, theirs);
  await create(call, "there");
  const full = await theirs.backUp();
  await back(call, "there");
  await empty.restore();
  await until(async () => /was emptied/.test(String((await datasource(call, id)).last_error)));
  expect(await statusOf(call, "there")).toBe(503);
  const found = await run("databases", "verify");
  expect(found.code).toBe(1);
  expect(found.out).toContain(`${organization} live: no database has a log of it. Restore a backup of ${id}`);
  expect((await run("tenants", "recover", organization, "--live", "--in", "own", "--yes")).err).toMatch(/--empty/);

  await full.restore();
  await back(call, "there");
  await settled(call, id);
  expect((await run("databases", "verify")).out).toBe("2 databases agree with the directory\n");

  await empty.restore();
  await until(async () => /was emptied/.test(String((await datasource(call, id)).last_error)));
  const planned = await run("tenants", "recover", organization, "--live", "--in", "own", "--empty");
  expect([planned.code, planned.err]).toEqual([1, expect.stringContaining("Nothing was changed: add --yes.")]);
  expect(await run("tenants", "recover", organization, "--live", "--in", "own", "--empty", "--yes")).toMatchObject({
    code: 0,
    out: "recovered in own: clients read the log again\n",
  });
  await until(async () => (await statusOf(call, "there")) === 404);
  expect((await call("GET", `/v1/datasources/${id}`)).status).toBe(404);
  expect((await call("POST", "/v1/schema", { json: { models: referenceSchema.models } })).status).toBeLessThan(300);
  expect((await create(call, "anew")).status).toBe(200);
  const next = await register(call, theirs);
  expect(await statusOf(call, "anew")).toBe(200);
  await remove(call, next);
});

test("[DS61] [DS149] a tenant's database is dropped for ever: its tenant is 503 until the operator lets it begin anew", async () => {
  const { call, organization } = app;
  const theirs = await anotherDatabase(app);
  const id = await register(call, theirs);
  await theirs.drop();
  await until(async () => (await datasource(call, id)).status === "broken");
  const kept = await call("DELETE", `/v1/datasources/${id}`);
  expect([kept.status, kept.body.message]).toEqual([
    503,
    expect.stringMatching(/If it is lost for ever, the operator/),
  ]);
  expect((await run("databases", "verify")).err).toMatch(new RegExp(`${id} cannot be compared: .*does not exist`));
  const recovered = await run("tenants", "recover", organization, "--live", "--in", "own", "--empty", "--yes");
  expect([recovered.code, recovered.err]).toEqual([0, expect.stringContaining(`does not count any more: ${id}`)]);
  await until(async () => (await statusOf(call, "any")) === 404);
  expect((await call("GET", "/v1/datasources")).body.data).toHaveLength(2);
  await call("POST", "/v1/schema", { json: { models: referenceSchema.models } });
  expect((await create(call, "anew")).status).toBe(200);
});

/** A service whose own database is stopped, copied and started again. */
async function service() {
  const callers: (() => void)[] = [];
  const masterKeys = [newMasterKey()];
  let url = await another();
  const begin = (more: { masterKeys?: string[] } = {}) =>
    startServer({
      ...{ databaseUrl: url, adminToken: ADMIN, masterKeys, port: 0, datasourcesAllowPrivate: true, ...more },
      limits: { rateFailedAuth: 0 },
    });
  let server = await begin();
  const operator = caller(server.url, ADMIN, callers);
  const organization = String((await operator("POST", "/v1/organizations", { json: { name: "one" } })).body.id);
  const live = (await operator("POST", "/v1/secret_keys", { json: { organization, livemode: true } })).body.token;
  const token = String(live);
  let answer = caller(server.url, token, callers);
  await answer("POST", "/v1/schema", { json: { models: referenceSchema.models } });
  afterAll(async () => {
    for (const close of callers) close();
    await server.close();
  });
  const startAgain = async (more?: { masterKeys?: string[] }) => {
    await server.close();
    server = await begin(more);
    answer = caller(server.url, token, callers);
  };
  const call: Call = (...asked) => answer(...asked);
  return {
    organization,
    call,
    masterKeys,
    startAgain,
    databaseUrl: () => url,
    /** A copy of the own database as of now, which `restore` starts the service on. */
    async backUp() {
      await server.close();
      const name = new URL(url).pathname.slice(1);
      const copy = await another();
      const copyName = new URL(copy).pathname.slice(1);
      const postgres = Object.assign(new URL(url), { pathname: "/postgres" }).href;
      await runSql(postgres, `drop database ${copyName}`);
      await runSql(postgres, `create database ${copyName} template ${name}`);
      await startAgain();
      return {
        async restore() {
          await server.close();
          url = copy;
          await startAgain();
        },
      };
    },
    run: (...words: string[]) =>
      commandLine({ ...app, databaseUrl: url, masterKeys } as App, temporaryFolder("restored-service")).run(...words),
  };
}

test("[DS61] [DS150] [DS148] [DS147] [DS146] the service's own database is restored to before a move: nothing is mixed, and the operator says which log counts", async () => {
  const { organization, call, backUp, run: command, startAgain } = await service();
  await create(call, "old");
  const backup = await backUp();
  const theirs = await anotherDatabase(app);
  await register(call, theirs);
  const made = await create(call, "new");
  await backup.restore();
  // The directory knows nothing of the datasource: the own log goes on, under a new id.
  expect([await statusOf(call, "old"), await statusOf(call, "new")]).toEqual([200, 404]);
  const { status, body } = await call("POST", "/v1/datasources", { json: direct(theirs) });
  expect([status, body.status]).toEqual([201, "moving"]);
  await until(async () => /Two databases have a log/.test(String((await datasource(call, body.id)).last_error)));
  expect(await statusOf(call, "old")).toBe(200);
  const verified = await command("databases", "verify");
  expect(verified.out).toContain(`${organization} live: several databases have a log of it, and own serves it.`);
  expect(verified.out).toMatch(new RegExp(`  own: 1 entries.*\n  ${body.id}: 2 entries`));

  const before = await logIdOf(theirs);
  const recovered = await command("tenants", "recover", organization, "--live", "--in", String(body.id), "--yes");
  expect(recovered).toMatchObject({ code: 0, err: expect.stringMatching(/is deleted: own: 1 entries/) });
  await back(call, "new");
  await settled(call, body.id);
  expect(await logIdOf(theirs)).not.toBe(before);
  // The write that the restored service had never seen is in the log once, and its key still names it.
  expect((await create(call, "new")).body).toEqual(made.body);
  expect((await wholeLog(call)).map((entry) => entry.id)).toEqual(["old", "new"]);
  expect((await command("databases", "verify")).out).toMatch(/agree/);
  // What the directory has never heard of is named, and left alone.
  await theirs.sql("insert into holdfast.organization (id, name) values ('org_lost', 'lost')");
  await theirs.sql(
    "insert into holdfast.tenant (id, organization, livemode) overriding system value values (77, 'org_lost', true)",
  );
  await theirs.sql("insert into holdfast.head (tenant, log_id, sync_id) values (77, 'log_lost', 5)");
  expect(await command("databases", "verify")).toMatchObject({
    code: 0,
    err: expect.stringContaining(
      `org_lost live: ${body.id} has a log of it that the directory does not know, with 5 entries`,
    ),
  });
  await startAgain();
  await back(call, "new");
  await remove(call, String(body.id));
  expect((await wholeLog(call)).map((entry) => entry.id)).toEqual(["old", "new"]);
});

test("[DS61] the service's own database is restored to before a way back: the tenant is 503 until its log is restored too", async () => {
  const { organization, call, backUp, run: command } = await service();
  const theirs = await anotherDatabase(app);
  const id = await register(call, theirs);
  await create(call, "there");
  const copy = await theirs.backUp();
  const backup = await backUp();
  await back(call, "there");
  await remove(call, id);
  await create(call, "home");
  await backup.restore();
  await until(async () => /no log of the tenant/.test(String((await datasource(call, id)).last_error)));
  expect(await statusOf(call, "there")).toBe(503);
  expect((await command("databases", "verify")).out).toContain(`${organization} live: no database has a log of it.`);
  await copy.restore();
  await back(call, "there");
  expect((await command("databases", "verify")).out).toMatch(/agree/);
  await remove(call, id);
});

test("[DS61] [DS146] a stale log in a database that a tenant comes back to: the move stops, DELETE gives it up, the operator clears it", async () => {
  const { organization, call, run: command } = await service();
  const theirs = await anotherDatabase(app);
  const first = await register(call, theirs);
  await create(call, "one");
  const backup = await theirs.backUp();
  await back(call, "one");
  await settled(call, first);
  await remove(call, first);
  await create(call, "two");
  await backup.restore();
  const { body } = await call("POST", "/v1/datasources", { json: direct(theirs) });
  await until(async () => /Two databases have a log/.test(String((await datasource(call, body.id)).last_error)));
  expect([await statusOf(call, "one"), await statusOf(call, "two")]).toEqual([200, 200]);
  await remove(call, String(body.id));
  const again = await call("POST", "/v1/datasources", { json: direct(theirs) });
  await command("tenants", "recover", organization, "--live", "--in", "own", "--yes");
  expect((await call("GET", `/v1/datasources/${again.body.id}`)).status).toBe(404);
  expect(await theirs.sql("select from holdfast.head")).toEqual([]);
  const id = await register(call, theirs);
  expect((await wholeLog(call)).map((entry) => entry.id)).toEqual(["one", "two"]);
  await remove(call, id);
});

test("[DS62] the master key is lost: each secret is entered again, and nothing else is lost", async () => {
  const { call, startAgain } = await service();
  const source = await startSourceService();
  try {
    const endpoint = await call("POST", "/v1/datasources", {
      json: { connection: "endpoint", endpoint: source.url, signingKey: source.signingKey },
    });
    expect(endpoint.status).toBe(201);
    const hook = await call("POST", "/v1/webhook_endpoints", { json: { url: "https://hooks.invalid/x" } });
    const theirs = await anotherDatabase(app);
    const id = await register(call, theirs);
    await create(call, "kept");
    await startAgain({ masterKeys: [newMasterKey()] });
    expect(await statusOf(call, "kept")).toBe(503);
    await until(async () => /master key.*rotate_key/.test(String((await datasource(call, id)).last_error)));
    const rotate = (name: unknown, json: object) => call("POST", `/v1/datasources/${name}/rotate_key`, { json });
    expect((await rotate(id, { connectionString: theirs.connectionString })).status).toBe(201);
    await back(call, "kept");

    await until(async () =>
      /master key.*rotate_key/.test(String((await datasource(call, endpoint.body.id)).last_error)),
    );
    source.signingKey = newSigningKey();
    expect((await rotate(endpoint.body.id, { signingKey: source.signingKey })).status).toBe(201);
    await settled(call, endpoint.body.id);
    expect((await call("POST", `/v1/webhook_endpoints/${hook.body.id}/roll_secret`, { json: {} })).status).toBeLessThan(
      300,
    );
    await remove(call, id);
    await back(call, "kept");
  } finally {
    await source.close();
  }
});

test("[DS63] a copy at another address takes the place of a database that is away, and not of one that answers", async () => {
  const { call } = app;
  const { call: second } = await app.another();
  const [theirs, copy, wrong] = [await anotherDatabase(app), await anotherDatabase(app), await anotherDatabase(app)];
  const id = await register(call, theirs);
  await create(call, "there");
  await back(second, "there");
  const backup = await theirs.backUp(copy);
  await backup.restore();
  await back(call, "there");
  const rotate = (to: AnotherDatabase) =>
    call("POST", `/v1/datasources/${id}/rotate_key`, { json: { connectionString: to.connectionString } });
  expect((await rotate(copy)).body).toMatchObject({
    code: "invalid_url",
    message: expect.stringContaining("still answers: stop it first"),
  });
  await theirs.drop();
  expect((await rotate(wrong)).body).toMatchObject({
    code: "invalid_url",
    message: expect.stringContaining("a copy of it that has the tenant's log"),
  });
  expect((await rotate(copy)).body).toMatchObject({ id, database: copy.name });
  for (const one of [call, second]) await back(one, "there");
  expect((await create(second, "later")).status).toBe(200);
  expect(await statusOf(call, "later")).toBe(200);
  expect(await wrong.sql("select from pg_namespace where nspname = 'holdfast'")).toEqual([]);
  await remove(call, id);
});

test("[DS63] [DS152] a password that was changed elsewhere: the datasource is broken with the reason, and goes on after rotate_key", async () => {
  const { call } = app;
  const theirs = await anotherDatabase(app);
  await theirs.sql("create role rotated superuser login password 'first'");
  try {
    const url = (password: string) =>
      Object.assign(new URL(theirs.connectionString), { username: "rotated", password }).href;
    const { body } = await call("POST", "/v1/datasources", {
      json: { connection: "direct", connectionString: url("first") },
    });
    await settled(call, body.id);
    await create(call, "there");
    await theirs.sql("alter role rotated password 'second'");
    await theirs.sql("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'rotated'");
    await until(async () =>
      /password authentication failed/.test(String((await datasource(call, body.id)).last_error)),
    );
    expect((await datasource(call, body.id)).status).toBe("broken");
    expect(await statusOf(call, "there")).toBe(503);
    expect((await call("DELETE", `/v1/datasources/${body.id}`)).status).toBe(503);
    const rotated = await call("POST", `/v1/datasources/${body.id}/rotate_key`, {
      json: { connectionString: url("second") },
    });
    expect([rotated.status, rotated.text]).toEqual([201, expect.not.stringContaining("second")]);
    await back(call, "there");
    await remove(call, String(body.id));
  } finally {
    await theirs.sql("drop owned by rotated cascade; drop role rotated");
  }
});
