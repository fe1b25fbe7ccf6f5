import { afterAll, expect, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { until } from "../../../../scripts/testing/until.ts";
import { anotherDatabase } from "../testing/another-database.ts";
import { startApp } from "../testing/app.ts";
import { commandLine } from "../testing/programs/command-line.ts";
import { startSourceService } from "../testing/source-service.ts";
import { wholeLog } from "../testing/whole-log.ts";

const app = await startApp({ datasourcesAllowPrivate: true });
const folder = temporaryFolder("datasources");
const service = await startSourceService();
afterAll(async () => {
  await service.close();
});
const { run } = commandLine(app, folder);
const { call } = app;

test("[DS35] datasources verify finds what a service has never named, and --repair reads it", async () => {
  expect((await run("datasources", "verify")).err).toBe("No model has an endpoint datasource.\n");
  const { body } = await call("POST", "/v1/datasources", {
    json: { connection: "endpoint", endpoint: service.url, signingKey: service.signingKey },
  });
  const source = String(body.id);
  const fields = { title: { type: "string" }, done: { type: "boolean", default: false } };
  const pushed = await call("POST", "/v1/schema", { json: { models: { task: { fields, source } }, force: true } });
  expect(pushed.status, pushed.text).toBe(201);
  for (let n = 0; n < 130; n++) await call("POST", "/v1/models/task", { json: { id: `t${n}`, data: { title: "x" } } });
  // Its event is the last one: those of the commits have been read when it is.
  service.put("task", "last", { title: "z" });
  await until(async () => (await call("GET", "/v1/models/task/last")).status === 200);
  // Nor are records asked for again that a commit was on its way to.
  const left = () => app.sql<{ left: number }>("select json_array_length(again) as left from holdfast.source");
  await until(async () => (await left())[0]?.left === 0);
  const equal = await run("datasources", "verify", source);
  expect([equal.code, equal.out]).toEqual([0, `${source} task: 131 records, equal\n`]);

  // Without an event.
  service.rows.set("task/t1", { title: "other", done: false });
  service.rows.set("task/new", { title: "y" });
  service.rows.set("task/wrong", { title: 1 });
  service.rows.delete("task/t2");
  service.rows.delete("task/t100");
  const found = await run("datasources", "verify");
  expect([found.code, found.out]).toEqual([
    1,
    `${source} task: 131 records, 1 missing here, 1 with other values, 2 only here; 1 that do not fit the model
  t1: different
  t100: extra
  t2: extra
  new: missing
  wrong: unfit
`,
  ]);
  expect(found.err).toMatch(/Some records differ.*--repair/);
  const end = (await wholeLog(call)).at(-1)?.syncId ?? 0;

  const repaired = await run("--json", "datasources", "verify", source, "--repair");
  expect([repaired.code, JSON.parse(repaired.out)]).toEqual([
    0,
    {
      source,
      model: "task",
      ...{ records: 131, missing: 1, different: 1, extra: 2, unfit: 1, repaired: 4 },
      examples: expect.any(Array),
    },
  ]);
  const made = (await wholeLog(call)).filter(({ syncId }) => syncId > end);
  expect(made.map(({ id, verb, actor }) => `${id} ${verb} ${actor}`).sort()).toEqual([
    "new created database",
    "t1 updated database",
    "t100 deleted database",
    "t2 deleted database",
  ]);
  expect((await run("datasources", "verify")).out).toBe(
    `${source} task: 131 records, equal; 1 that do not fit the model\n  wrong: unfit\n`,
  );
});

test("[DS73] datasources verify looks in all databases, and says which it could not ask", async () => {
  const second = await anotherDatabase(app);
  await run("databases", "add", "second", second.connectionString);
  await run("tenants", "move", app.organization, "--live", "--to", "second");
  const found = await run("datasources", "verify");
  expect([found.code, found.out]).toEqual([0, expect.stringMatching(/^ds_\S+ \S+: \d+ records, equal/)]);
  await second.goAway();
  const away = await run("datasources", "verify");
  expect(away).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^second is left out: .*\n1 databases could not be asked/),
  });
  await second.comeBack();
  await run("databases", "drain", "second");
  await run("databases", "rm", "second");
});

test("[DS73] [DS158] a tool that may not reach a datasource says by which setting it could, and leaves its health alone", async () => {
  const before = (await call("GET", "/v1/datasources")).body;
  const { code, err } = await commandLine(app, folder, { allowPrivate: false }).run("datasources", "verify");
  expect([code, err]).toEqual([1, expect.stringContaining("HOLDFAST_DATASOURCE_ALLOW_PRIVATE=1")]);
  const healthOf = ({ data }: { data?: unknown }) =>
    (data as { id: string; status: string; last_error: unknown }[]).map((one) => [one.id, one.status, one.last_error]);
  expect(healthOf((await call("GET", "/v1/datasources")).body)).toEqual(healthOf(before));
});

test("[DS35] datasources verify says which datasource does not answer, or is not there", async () => {
  expect((await run("datasources", "verify", "ds_none")).err).toBe("There is no endpoint datasource ds_none.\n");
  service.signingKey = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const { code, err } = await run("datasources", "verify");
  expect([code, err]).toEqual([1, expect.stringMatching(/^The datasource ds_\S+ does not answer: Status 401/)]);
});
