import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { until } from "../../../../scripts/testing/until.ts";
import { anotherDatabase } from "../testing/another-database.ts";
import { startApp } from "../testing/app.ts";
import { commandLine } from "../testing/programs/command-line.ts";
import { connected } from "../testing/run-sql.ts";

const app = await startApp({ datasourcesAllowPrivate: true });
const { call, keys, organization } = app;
const { run } = commandLine(app, temporaryFolder("one-database"));

const register = (connectionString: string, token = keys.live) =>
  call("POST", "/v1/datasources", { token, json: { connection: "direct", connectionString } });
const read = async (id: unknown, token = keys.live) => (await call("GET", `/v1/datasources/${id}`, { token })).body;
const settled = (id: unknown, token = keys.live) => until(async () => (await read(id, token)).status === "active");
const remove = async (id: unknown, token = keys.live) => {
  expect((await call("DELETE", `/v1/datasources/${id}`, { token })).status).toBe(200);
  await until(async () => (await call("GET", `/v1/datasources/${id}`, { token })).status === 404);
};
const create = (id: string) => call("POST", "/v1/models/slide", { json: { id, data: { title: id } } });
const statusOf = async (id: string) => (await call("GET", `/v1/models/slide/${id}`)).status;

test("[DS69] the operator cannot add a database twice, nor the service's own", async () => {
  const second = await anotherDatabase(app);
  const { hostname, port } = new URL(second.connectionString);
  await run("databases", "add", "second", second.connectionString);
  const byAnotherName =
    hostname === "127.0.0.1" ? second.connectionString.replace("127.0.0.1", "localhost") : second.connectionString;
  for (const url of [second.connectionString, byAnotherName])
    expect(await run("databases", "add", "third", url)).toMatchObject({
      code: 1,
      err: expect.stringContaining("This database is known already, as second."),
    });
  const own = Object.assign(new URL(app.databaseUrl), { search: "?sslmode=disable" }).href;
  expect([(await run("databases", "add", "third", own)).code, port]).toEqual([1, port]);
  const theirs = await anotherDatabase(app);
  const { body } = await register(theirs.connectionString);
  await settled(body.id);
  expect((await run("databases", "add", "third", theirs.connectionString)).err).toContain(
    `known already, as ${body.id}.`,
  );
  await remove(body.id);
  await run("databases", "rm", "second");
});

test("[DS69] two tenants in one database: verify finds each log once, and recover keeps it", async () => {
  const shared = await anotherDatabase(app);
  const live = (await register(shared.connectionString)).body.id;
  await settled(live);
  const testing = (await register(shared.connectionString, keys.test)).body.id;
  await settled(testing, keys.test);
  await create("shared");
  const verified = await run("databases", "verify");
  expect(verified).toMatchObject({ code: 0, out: "2 databases agree with the directory\n" });
  expect(verified.err).toContain(`${testing} is the same database as ${live}`);
  for (const name of [live, testing]) {
    const recovered = await run("tenants", "recover", organization, "--live", "--in", String(name), "--yes");
    expect(recovered).toMatchObject({ code: 0, err: expect.not.stringContaining("is deleted") });
    await until(async () => (await statusOf("shared")) === 200);
    expect((await read(live)).status).toBe("active");
  }
  await remove(testing, keys.test);
  expect(await statusOf("shared")).toBe(200);
  await remove(live);
});

test("[DS70] a tenant that registers the database in which it is hosted is there at once, and leaves it only with --yes", async () => {
  const second = await anotherDatabase(app);
  await run("databases", "add", "second", second.connectionString);
  await run("tenants", "move", organization, "--to", "second");
  await create("hosted");
  const { status, body } = await register(second.connectionString);
  expect([status, body.status]).toEqual([201, "active"]);
  expect(await statusOf("hosted")).toBe(200);
  expect((await create("registered")).status).toBe(200);
  const refused = await run("tenants", "move", organization, "--live", "--to", "second");
  expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/its owner has registered .*With --yes/) });
  expect((await read(body.id)).status).toBe("active");
  expect((await run("tenants", "move", organization, "--live", "--to", "second", "--yes")).out).toBe("moved 1\n");
  expect((await call("GET", `/v1/datasources/${body.id}`)).status).toBe(404);
  for (const id of ["hosted", "registered"]) expect(await statusOf(id)).toBe(200);
  expect((await run("databases", "drain", "second")).out).toBe("moved 2\n");
  for (const id of ["hosted", "registered"]) expect(await statusOf(id)).toBe(200);
  await run("databases", "rm", "second");
});

test("[DS70] a move to where the tenant lives gives up the one that is under way, also while it copies", async () => {
  const far = await anotherDatabase(app);
  await run("databases", "add", "far", far.connectionString);
  await create("stays");
  const holder = await connected(far.connectionString, { application_name: "test" });
  await holder.query("begin");
  await holder.query("lock table holdfast.record in exclusive mode");
  const moving = run("tenants", "move", organization, "--live", "--to", "far");
  await until(async () => (await app.sql("select from pg_locks where not granted")).length > 0);
  expect((await run("tenants", "move", organization, "--live", "--to", "own")).out).toBe("nothing to move\n");
  await moving;
  await holder.query("rollback");
  await holder.end();
  expect((await create("later")).status).toBe(200);
  await until(async () => (await far.sql("select from holdfast.log")).length === 0);
  for (const id of ["stays", "later"]) expect(await statusOf(id)).toBe(200);
  await until(async () => (await run("databases", "rm", "far")).code === 0);
});

test("[DS71] a database that lacks the logs of the tenants takes no database's place, whatever became of that", async () => {
  const [second, wrong] = [await anotherDatabase(app), await anotherDatabase(app)];
  await run("databases", "add", "second", second.connectionString);
  await run("tenants", "move", organization, "--to", "second");
  await create("kept");
  await second.goAway();
  expect(await run("databases", "set", "second", wrong.connectionString)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/logs of its 2 tenants/),
  });
  expect(await wrong.sql("select from pg_namespace where nspname = 'holdfast'")).toEqual([]);
  await second.comeBack();
  await until(async () => (await statusOf("kept")) === 200);
  await run("databases", "drain", "second");
  await run("databases", "rm", "second");
});

test("[DS72] POST while the tenant comes back from its database is 409 at once", async () => {
  const theirs = await anotherDatabase(app);
  const { body } = await register(theirs.connectionString);
  await settled(body.id);
  await create("on-the-way");
  const holder = await connected(app.databaseUrl, { application_name: "test" });
  await holder.query("begin");
  await holder.query("lock table holdfast.record in exclusive mode");
  const removed = call("DELETE", `/v1/datasources/${body.id}`);
  await until(async () => (await app.sql("select from pg_locks where not granted")).length > 0);
  const { status, body: refused } = await register((await anotherDatabase(app)).connectionString);
  expect([status, refused.code]).toEqual([409, "datasource_exists"]);
  await holder.query("rollback");
  await holder.end();
  expect((await removed).status).toBe(200);
  await until(async () => (await call("GET", `/v1/datasources/${body.id}`)).status === 404);
  expect(await statusOf("on-the-way")).toBe(200);
});
