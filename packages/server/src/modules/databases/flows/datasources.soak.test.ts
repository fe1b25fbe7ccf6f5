import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../../../scripts/testing/temporary-folder.ts";
import { until } from "../../../../../../scripts/testing/until.ts";
import { newMasterKey } from "../../../server.ts";
import { anotherDatabase } from "../../../testing/another-database.ts";
import { type Answer, caller, startApp } from "../../../testing/app.ts";
import { commandLine } from "../../../testing/programs/command-line.ts";
import { openStream } from "../../../testing/stream/stream.ts";
import { wholeLog } from "../../../testing/whole-log.ts";
import { MOVED } from "../db/tenant-rows.ts";

const app = await startApp({ datasourcesAllowPrivate: true });
const { call, keys } = app;
const folder = temporaryFolder("datasources");
const { run, start } = commandLine(app, folder);

const register = (connectionString: string, token = keys.live, more: object = {}): Promise<Answer> =>
  call("POST", "/v1/datasources", { token, json: { connection: "direct", connectionString, ...more } });
const statusOf = async (id: unknown, token = keys.live) =>
  (await call("GET", `/v1/datasources/${id}`, { token })).body.status;
const settled = (id: unknown, token = keys.live) => until(async () => (await statusOf(id, token)) === "active");
const gone = (id: unknown, token = keys.live) =>
  until(async () => (await call("GET", `/v1/datasources/${id}`, { token })).status === 404);
const remove = async (id: unknown, token = keys.live) => {
  const removed = await call("DELETE", `/v1/datasources/${id}`, { token });
  expect([removed.status, removed.body.deleted]).toEqual([200, true]);
  await gone(id, token);
};

test("[DS20] [DS142] [DS21] a tenant's data moves into a database of its owner and back, and requests go on", async () => {
  for (let n = 0; n < 5; n++) await call("POST", "/v1/models/slide", { json: { id: `s${n}`, data: { title: "a" } } });
  const hook = await call("POST", "/v1/webhook_endpoints", { json: { url: "https://hooks.invalid/x" } });
  const before = await wholeLog(call);
  const identity = (await call("GET", "/v1/identity")).body;
  const theirs = await anotherDatabase(app);
  const made = await register(theirs.connectionString, keys.live, { display_name: "Ours", metadata: { a: 1 } });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({
    ...{ object: "datasource", connection: "direct", livemode: true, provider: "postgresql" },
    ...{ database: theirs.name, schema: "public", display_name: "Ours", metadata: { a: 1 } },
  });
  const { id } = made.body;
  expect(id).toMatch(/^ds_[A-Za-z0-9]+$/);
  await settled(id);

  expect(await wholeLog(call)).toEqual(before);
  expect((await call("GET", "/v1/identity")).body).toEqual(identity);
  expect((await call("GET", `/v1/webhook_endpoints/${hook.body.id}`)).status).toBe(200);
  expect((await call("PATCH", "/v1/models/slide/s0", { json: { data: { title: "b" } } })).status).toBe(200);
  expect((await call("GET", "/v1/models/slide/s0")).body).toMatchObject({ data: { title: "b" } });
  expect(await theirs.sql("select distinct tenant from holdfast.log")).toHaveLength(1);
  const leftOvers = `select 1 as one from holdfast.log l join holdfast.tenant t on t.id = l.tenant
    where t.organization = '${app.organization}' and t.livemode`;
  await until(async () => (await app.sql(leftOvers)).length === 0);

  const all = await call("GET", "/v1/datasources", { token: keys.test });
  expect((all.body.data as { id: string }[]).map((one) => one.id)).toEqual(["ds_hosted", "ds_test_hosted", id]);
  const secret = new URL(theirs.connectionString).password;
  for (const { text } of [made, all]) expect(text).not.toContain(secret);
  expect(JSON.stringify(await app.sql("select * from holdfast.datasource"))).not.toContain(secret);

  await remove(id);
  expect((await wholeLog(call)).length).toBe(before.length + 1);
  for (const table of ["log", "record", "receipt", "head", "webhook_endpoint"])
    expect([table, await theirs.sql(`select 1 from holdfast.${table}`)]).toEqual([table, []]);
});

test("[DS20] [DS141] what cannot be used is refused with a sentence, and nothing is left behind", async () => {
  const theirs = await anotherDatabase(app);
  const url = theirs.connectionString;
  const own = app.databaseUrl.replace(/\?.*|$/, "?sslmode=disable");
  const refusals: [string, string, RegExp][] = [
    ["mysql://a@b/c", "invalid_url", /must look like postgres:/],
    [`${url}&sslrootcert=/etc/passwd`, "invalid_url", /sslrootcert/],
    [url.replace(theirs.name, "no_such_database"), "datasource_unreachable", /no_such_database/],
    [url.replace("sslmode=disable", "sslmode=verify-full"), "datasource_unreachable", /SSL/],
    [own, "datasource_in_use", /./],
    [own.replace("127.0.0.1", "localhost"), "datasource_in_use", /./],
    [own.replace("127.0.0.1", "[::ffff:127.0.0.1]"), "datasource_in_use", /./],
    [own.replace("127.0.0.1", "0.0.0.0"), "datasource_in_use", /./],
    ["postgres://a@127.0.0.1:1/x?sslmode=disable", "datasource_unreachable", /cannot be reached/],
  ];
  for (const [connectionString, code, sentence] of refusals) {
    const { status, body } = await register(connectionString);
    expect([status, body.code, body.param, connectionString]).toEqual([
      code === "datasource_in_use" ? 409 : 400,
      code,
      "connectionString",
      connectionString,
    ]);
    expect(body.message).toMatch(sentence);
  }
  expect(await theirs.sql("select from pg_namespace where nspname = 'holdfast'")).toEqual([]);
  await theirs.sql(`create role low login password 'low'; revoke create on database ${theirs.name} from public`);
  const low = new URL(url);
  [low.username, low.password] = ["low", "low"];
  const { status, body } = await register(low.href);
  expect([status, body.code]).toEqual([400, "datasource_unreachable"]);
  expect(body.message).toMatch(/may not create a schema/);
  await theirs.sql("drop role low");
  for (const json of [{}, { connection: "endpoint" }, { connection: "direct", connectionString: 1 }])
    expect((await call("POST", "/v1/datasources", { json })).status).toBe(400);
  const scoped = (await call("POST", "/v1/capabilities", { json: { wideScope: true } })).body.token;
  expect((await register(url, String(scoped))).body.code).toBe("secret_key_required");
});

test("[DS20] private addresses are refused unless the operator allows them", async () => {
  const { call: strict } = await app.another({ datasourcesAllowPrivate: false });
  for (const host of [
    ...["127.0.0.1", "10.0.0.1", "localhost", "[::1]"],
    ...["%2Ftmp%2Fpg.sock", "db.internal", "8.8.8.8,10.0.0.1"],
    ...["[::ffff:127.0.0.1]", "[::ffff:a00:1]", "[64:ff9b::a00:1]", "[fe80::1]", "[fd00::1]"],
    ...["0.0.0.0", "169.254.169.254", "100.64.0.1", "2130706433", "127.1", "0x7f.1", "localhost."],
  ]) {
    const json = { connection: "direct", connectionString: `postgres://a:b@${host}/x` };
    const { status, body } = await strict("POST", "/v1/datasources", { json });
    expect([host, status, body.code]).toEqual([host, 400, "blocked_address"]);
  }
});

test("[DS25] each environment and organization has its own; the other sees it, or not, and changes nothing", async () => {
  const theirs = await anotherDatabase(app);
  const { body: test } = await register(theirs.connectionString, keys.test);
  expect(test).toMatchObject({ livemode: false });
  expect(test.id).toMatch(/^ds_test_/);
  await settled(test.id, keys.test);
  expect((await register(theirs.connectionString, keys.test)).body.code).toBe("datasource_exists");
  // Both environments of an organization may live in one database.
  const { body: live } = await register(theirs.connectionString);
  await settled(live.id);
  await call("POST", "/v1/models/slide", { json: { id: "only-live", data: {} } });
  expect((await call("GET", "/v1/models/slide/only-live", { token: keys.test })).status).toBe(404);
  expect((await call("DELETE", `/v1/datasources/${test.id}`)).body.code).toBe("datasource_not_found");
  expect((await call("GET", `/v1/datasources/${test.id}`)).status).toBe(200);
  for (const method of ["GET", "DELETE"])
    expect((await call(method, `/v1/datasources/${live.id}`, { token: keys.other })).status).toBe(404);
  for (const id of ["ds_hosted", "ds_test_hosted"])
    expect((await call("DELETE", `/v1/datasources/${id}`)).body.code).toBe("datasource_hosted");

  const rotate = (connectionString: string) =>
    call("POST", `/v1/datasources/${live.id}/rotate_key`, { json: { connectionString } });
  await theirs.sql("create role second superuser login password 'second'");
  const second = new URL(theirs.connectionString);
  [second.username, second.password] = ["second", "second"];
  expect((await rotate(second.href)).status).toBe(201);
  expect((await call("PATCH", "/v1/models/slide/only-live", { json: { data: { title: "x" } } })).status).toBe(200);
  await until(
    async () =>
      (
        await theirs.sql(
          "select 1 as one from pg_stat_activity where usename = 'second' and datname = current_database()",
        )
      ).length > 0,
  );
  expect((await rotate((await anotherDatabase(app)).connectionString)).body.code).toBe("invalid_url");
  await rotate(theirs.connectionString);
  await remove(live.id);
  await remove(test.id, keys.test);
  await theirs.sql("drop role second");
});

test("[DS24] a claim ends with its token, also in a database of its own", async () => {
  const theirs = await anotherDatabase(app);
  const { body } = await register(theirs.connectionString);
  await settled(body.id);
  await call("POST", "/v1/models/slide", { json: { id: "claimed", data: {} } });
  const cap = (await call("POST", "/v1/capabilities", { json: { wideScope: true } })).body;
  const claim = await call("POST", "/v1/models/slide/claimed/claim", { token: String(cap.token), json: {} });
  expect(claim.status).toBe(201);
  expect((await call("DELETE", `/v1/capabilities/${cap.id}`)).status).toBe(200);
  await until(async () => (await call("GET", `/v1/claims/${claim.body.id}`)).body.status !== "active");
  const key = await app.newKey();
  const held = await call("POST", "/v1/models/slide/claimed/claim", { token: key.token, json: {} });
  expect(held.status).toBe(201);
  const operator = caller(app.url, "admin_token_of_the_tests");
  expect((await operator("DELETE", `/v1/secret_keys/${key.id}`)).status).toBe(200);
  await until(async () => (await call("GET", `/v1/claims/${held.body.id}`)).body.status !== "active");
  await remove(body.id);
});

test("[DS22] while a tenant's database is away, only its requests are 503, and all goes on afterwards", async () => {
  const theirs = await anotherDatabase(app);
  const { body } = await register(theirs.connectionString);
  await settled(body.id);
  await call("POST", "/v1/models/slide", { json: { id: "stays", data: { title: "x" } } });
  const before = await wholeLog(call);
  let n = 0;
  await theirs.goAway();
  for (const answer of [
    await call("GET", "/v1/models/slide/stays"),
    await call("PATCH", "/v1/models/slide/stays", { json: { data: { title: "y" } } }),
    await call("GET", "/v1/log"),
  ])
    expect([answer.status, answer.text]).toEqual([503, answer.text]);
  expect(
    (await call("POST", "/v1/models/slide", { token: keys.other, json: { id: `o${n++}`, data: {} } })).status,
  ).toBe(200);
  expect((await call("POST", "/v1/models/slide", { token: keys.test, json: { id: `o${n++}`, data: {} } })).status).toBe(
    200,
  );
  // The process that serves it notices too.
  await until(async () => (await statusOf(body.id)) === "broken");
  expect((await call("GET", `/v1/datasources/${body.id}`)).body).toMatchObject({
    last_error: expect.stringMatching(/./),
  });
  expect((await call("GET", "/readyz", { token: null })).status).toBe(200);
  // A server that starts meanwhile starts, and serves the others.
  const { call: late } = await app.another();
  expect((await late("GET", "/v1/models/slide/stays")).status).toBe(503);
  expect(
    (await late("POST", "/v1/models/slide", { token: keys.other, json: { id: `o${n++}`, data: {} } })).status,
  ).toBe(200);
  expect((await late("GET", `/v1/datasources/${body.id}`)).body).toMatchObject({ status: "broken", last_error: /./ });
  await theirs.comeBack();
  for (const one of [call, late]) await until(async () => (await one("GET", "/v1/models/slide/stays")).status === 200);
  expect(await wholeLog(call)).toEqual(before);
  expect((await late("PATCH", "/v1/models/slide/stays", { json: { data: { title: "y" } } })).status).toBe(200);
  await remove(body.id);
});

test("[DS23] a stream is closed by a move, also in another process, and its client goes on where it was", async () => {
  const theirs = await anotherDatabase(app);
  const { server } = await app.another();
  const streams = await Promise.all([app.url, server.url].map((url) => openStream(url)));
  for (const stream of streams) {
    stream.send({ frame: "hello", token: keys.live });
    await stream.next("welcome");
  }
  const { position } = streams[0] as (typeof streams)[number];
  const { body } = await register(theirs.connectionString);
  for (const stream of streams) expect((await stream.closed).code).toBe(1012);
  await settled(body.id);
  const written = await call("POST", "/v1/models/slide", { json: { id: "streamed", data: {} } });
  for (const url of [app.url, server.url]) {
    const again = await openStream(url);
    again.send({ frame: "hello", token: keys.live, since: position });
    await again.reaches(Number(written.body.lastSyncId));
    expect(again.entries.map(({ id }) => id)).toEqual(["streamed"]);
    await again.close();
  }
  await remove(body.id);
});

test("[DS26] tables are attached in the tenant's own database, and keep it from moving", async () => {
  const theirs = await anotherDatabase(app);
  const { body } = await register(theirs.connectionString);
  await settled(body.id);
  await theirs.sql("create table public.plans (id text primary key, title text)");
  await theirs.sql("insert into public.plans values ('a', 'One')");
  const inTheirs = (...words: string[]) => start(["tables", ...words], { DATABASE_URL: theirs.connectionString }).ended;
  expect(await inTheirs("attach", "public.plans", "--yes")).toMatchObject({ code: 0 });
  expect((await call("GET", "/v1/models/plan/a")).body).toMatchObject({ data: { title: "One" } });
  expect((await call("PATCH", "/v1/models/plan/a", { json: { data: { title: "Two" } } })).status).toBe(200);
  expect(await theirs.sql("select * from public.plans")).toEqual([{ id: "a", title: "Two" }]);
  await theirs.sql("update public.plans set title = 'By SQL'");
  await until(async () => (await call("GET", "/v1/models/plan/a")).text.includes("By SQL"));
  expect((await call("DELETE", `/v1/datasources/${body.id}`)).body.code).toBe("datasource_has_tables");
  await app.sql("create table public.plans (id text primary key)");
  const here = await run("tables", "attach", "public.plans", "--yes", "--org", app.organization);
  expect([here.code, here.err]).toEqual([1, expect.stringContaining("has a database of its own")]);
  expect(await inTheirs("detach", "plan", "--drop", "--yes")).toMatchObject({ code: 0 });
  await remove(body.id);
});

test("[DS20] connection strings follow the newest master key; without its key a tenant is 503", async () => {
  const theirs = await anotherDatabase(app);
  const { body } = await register(theirs.connectionString);
  await settled(body.id);
  const next = newMasterKey();
  await app.another({ masterKeys: [next, ...app.masterKeys] });
  const { call: later } = await app.another({ masterKeys: [next] });
  expect((await later("GET", "/v1/log")).status).toBe(200);
  const { call: without } = await app.another({ masterKeys: [newMasterKey()] });
  expect((await without("GET", "/v1/log")).status).toBe(503);
  expect((await later("DELETE", `/v1/datasources/${body.id}`)).status).toBe(200);
  await gone(body.id);
});

test("[DS20] a service does not start on a database that another one uses for its tenants", async () => {
  const theirs = await anotherDatabase(app);
  const { body } = await register(theirs.connectionString);
  await settled(body.id);
  await expect(app.another({ databaseUrl: theirs.connectionString })).rejects.toThrow(
    "another Holdfast service keeps tenants in this database",
  );
  await remove(body.id);
});

test("[DS21] every table with rows of tenants moves, or stays for a reason", async () => {
  const stay = {
    ...{ usage: "of the organization", secret_key: "tokens", scoped_token: "tokens", datasource: "the directory" },
    ...{ head: "decides where the tenant lives", move: "the directory", arrival: "of a move" },
    ...{ attached_table: "cannot move", attached_column: "cannot move", captured_change: "cannot move" },
    rewritten_record: "a move waits until there are none",
  };
  const rows = await app.sql<{ name: string }>(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant'
     where c.relnamespace = 'holdfast'::regnamespace and c.relkind in ('r', 'p')`,
  );
  expect(rows.map(({ name }) => name).sort()).toEqual([...MOVED, ...Object.keys(stay)].sort());
});
