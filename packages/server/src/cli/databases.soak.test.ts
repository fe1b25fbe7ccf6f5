import { afterAll, expect, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { until } from "../../../../scripts/testing/until.ts";
import { anotherDatabase } from "../testing/another-database.ts";
import { ADMIN, caller, startApp } from "../testing/app.ts";
import { commandLine } from "../testing/programs/command-line.ts";

const app = await startApp();
const callers: (() => void)[] = [];
afterAll(() => {
  for (const close of callers) close();
});
const folder = temporaryFolder("databases");
const { run, start } = commandLine(app, folder);
const listed = async () =>
  (JSON.parse((await run("--json", "databases", "list")).out) as { name: string; tenants: number }[]).map(
    ({ name, tenants }) => [name, tenants],
  );

test("[DS27] databases are added, listed, filled, drained and removed; tenants go on where they are", async () => {
  const second = await anotherDatabase(app);
  await app.call("POST", "/v1/models/slide", { json: { id: "a", data: { title: "One" } } });
  expect(await listed()).toEqual([["own", 4]]);
  const added = await run("databases", "add", "second", second.connectionString);
  expect([added.code, added.err]).toEqual([0, expect.stringMatching(/^second: added\. Move tenants there with: /)]);
  const moved = await run("tenants", "move", app.organization, "--to", "second");
  expect([moved.code, moved.out, moved.err]).toEqual([0, "moved 2\n", ""]);
  expect(await listed()).toEqual([
    ["own", 2],
    ["second", 2],
  ]);
  expect((await app.call("PATCH", "/v1/models/slide/a", { json: { data: { title: "Two" } } })).status).toBe(200);
  // It is the operator's: its tenants are hosted, and do not see where.
  expect((await app.call("GET", "/v1/datasources")).body.data).toHaveLength(2);
  expect((await run("tenants", "move", app.organization, "--to", "second")).out).toBe("nothing to move\n");
  const { out } = await run("databases", "list");
  expect(out).toMatch(/^NAME +HOST +DATABASE +TENANTS\nown +- +- +2\nsecond +\S+ +\S+ +2\n$/);
  expect(out).not.toContain(new URL(second.connectionString).password);
  expect((await run("databases", "rm", "second")).err).toMatch(/Tenants live in second: holdfast databases drain/);
  expect((await run("databases", "drain", "second")).out).toBe("moved 2\n");
  expect((await app.call("GET", "/v1/models/slide/a")).body).toMatchObject({ data: { title: "Two" } });
  expect((await run("databases", "rm", "second")).out).toBe("removed second\n");
  expect(await listed()).toEqual([["own", 4]]);
});

test("[DS27] [DS144] the connection string of the service's own database, for psql: that of a server that runs", async () => {
  expect((await run("databases", "url")).out).toBe(`${app.databaseUrl}\n`);
  const { code, out, err } = await start(["databases", "url"]).ended;
  expect([code, out, err]).toEqual([1, "", expect.stringMatching(/^holdfast: The embedded Postgres runs while/)]);
});

test("[DS27] [DS143] new organizations go to the database with the fewest tenants, and none to one that is being drained", async () => {
  const { connectionString } = await anotherDatabase(app);
  await run("databases", "add", "fresh", connectionString);
  const operator = caller(app.url, ADMIN, callers);
  const begin = async (name: string) => {
    const { body } = await operator("POST", "/v1/organizations", { json: { name } });
    const key = await operator("POST", "/v1/secret_keys", { json: { organization: body.id, livemode: true } });
    const token = String(key.body.token);
    // The first request opens the database; on a busy machine that may outlast it.
    const push = () => app.call("POST", "/v1/schema", { token, json: { models: { note: { fields: {} } } } });
    await until(async () => expect(await (await push()).status).toBeLessThan(300));
    expect((await app.call("POST", "/v1/models/note", { token, json: { id: "n", data: {} } })).status).toBe(200);
  };
  await begin("first");
  await begin("second");
  await until(async () =>
    expect(await listed()).toEqual([
      ["own", 4],
      ["fresh", 4],
    ]),
  );
  await begin("third");
  await until(async () =>
    expect(await listed()).toEqual([
      ["own", 6],
      ["fresh", 4],
    ]),
  );
  expect((await run("databases", "drain", "fresh")).out).toBe("moved 4\n");
  await begin("fourth");
  expect(await listed()).toEqual([
    ["own", 12],
    ["fresh", 0],
  ]);
  await run("databases", "rm", "fresh");
});

test("[DS27] what cannot be done is said in a sentence", async () => {
  const { connectionString } = await anotherDatabase(app);
  const refusals: [string[], RegExp][] = [
    [["databases", "add", "own", connectionString], /"own" cannot be a database's name: it means the service's own/],
    [["databases", "drain", "own"], /own is the service's own database/],
    [["databases", "add", "A b", connectionString], /cannot be a database's name/],
    [["databases", "add", "x", "mysql://a@b/c"], /must look like postgres:/],
    [["databases", "add", "x", "postgres://a@127.0.0.1:1/c"], /cannot be reached/],
    [["databases", "drain", "nothing"], /There is no database nothing/],
    [["databases", "rm", "nothing"], /There is no database nothing/],
    [["tenants", "move", "org_none", "--to", "own"], /org_none does not exist/],
    [["tenants", "move", app.organization, "--to", "nothing"], /There is no database nothing/],
    [["tenants", "move", app.organization], /required option '--to <database>'/],
  ];
  for (const [words, sentence] of refusals) {
    const { code, out, err } = await run(...words);
    expect([words, code, out]).toEqual([words, 1, ""]);
    expect(err).toMatch(sentence);
  }
});

test("[DS27] as a program of its own it uses the server's master key", async () => {
  const { connectionString } = await anotherDatabase(app);
  const env = { DATABASE_URL: app.databaseUrl, HOLDFAST_MASTER_KEY: app.masterKeys.join(",") };
  expect(await start(["databases", "add", "third", connectionString], env).ended).toMatchObject({ code: 0, out: "" });
  const { ended } = start(["tenants", "move", app.organization, "--to", "third", "--test"], env);
  expect(await ended).toMatchObject({ code: 0, out: "moved 1\n" });
  expect(
    (await app.call("POST", "/v1/models/slide", { token: app.keys.test, json: { id: "t", data: {} } })).status,
  ).toBe(200);
  expect((await start(["databases", "drain", "third"], env).ended).out).toBe("moved 1\n");
  expect((await start(["databases", "rm", "third"], env).ended).out).toBe("removed third\n");
  const { out } = await start(["tenants", "move", "--help"], env).ended;
  expect(out).toMatch(/Examples:\n {2}holdfast databases add second/);
});

test("[DS64] [DS154] while a database of the operator's is away, the hosted datasource of its tenant says so", async () => {
  const second = await anotherDatabase(app);
  await run("databases", "add", "away", second.connectionString);
  await run("tenants", "move", app.organization, "--to", "away", "--test");
  const hosted = async () => {
    const { body, text } = await app.call("GET", "/v1/datasources");
    expect(text).not.toContain(second.name);
    return (body.data as { status: string }[]).map(({ status }) => status);
  };
  await second.goAway();
  await until(async () => expect(await hosted()).toEqual(["active", "broken"]));
  await second.comeBack();
  await until(async () => expect(await hosted()).toEqual(["active", "active"]));
  await run("databases", "drain", "away");
  await run("databases", "rm", "away");
});

test("[DS62] [DS63] the operator enters the connection string of a database again, also after its master key was lost", async () => {
  const [second, wrong] = [await anotherDatabase(app), await anotherDatabase(app)];
  await run("databases", "add", "again", second.connectionString);
  await run("tenants", "move", app.organization, "--to", "again", "--test");
  const lost = "update holdfast.datasource set connection = '\\x00' where display_name = 'again'";
  await app.sql(lost);
  const read = async () => (await app.call("GET", "/v1/models/slide", { token: app.keys.test })).status;
  await until(async () => expect(await read()).toBe(503));
  expect((await run("databases", "verify")).err).toMatch(/again cannot be compared: .*master key/);
  expect((await run("databases", "set", "again", wrong.connectionString)).err).toMatch(
    /must lead to the same database/,
  );
  expect((await run("databases", "set", "none", second.connectionString)).err).toMatch(/There is no database none/);
  expect(await run("databases", "set", "again", second.connectionString)).toMatchObject({
    code: 0,
    err: "again: set\n",
  });
  await until(async () => expect(await read()).toBe(200));
  await run("databases", "drain", "again");
  await run("databases", "rm", "again");
});
