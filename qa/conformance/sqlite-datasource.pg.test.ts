import { join } from "node:path";
import { newMasterKey, startServer } from "@holdfast/server";
import { freshDatabase } from "@holdfast/server/testing";
import Database from "libsql";
import { afterAll, expect, test } from "vitest";
import { createAsk } from "../../packages/conformance/src/transport/ask.ts";
import { temporaryFolder } from "../../scripts/testing/temporary-folder.ts";
import { until } from "../../scripts/testing/until.ts";
import { killGroup, readmeShell } from "./readme-shell.ts";

const folder = temporaryFolder("sqlite");
const ADDRESS = "http://127.0.0.1:4000/";
const SIGNING_KEY = `whsec_${Buffer.from("the key of the example over SQLite").toString("base64")}`;
const file = join(folder, "tasks.db");
const readme = readmeShell("examples/sqlite-datasource/README.md", { SIGNING_KEY });
afterAll(readme.close);

async function startService(port: string) {
  const service = readme.run("npm start --prefix examples/sqlite-datasource", {}, { PORT: port, TASKS_FILE: file });
  await until(async () => expect(await service.printed()).toMatch(/at http:/));
  return { ...service, url: /http:\/\/127\.0\.0\.1:\d+\//.exec(service.printed())?.[0] ?? "" };
}

test("[DS29] [DS34] the example over SQLite: the kit passes, a client writes it, other programs too, and it may die", async () => {
  const service = await startService("0");
  const check = /npm run conformance -- datasource.*/.exec(readme.text)?.[0] ?? "";
  const kit = readme.run(check, { [ADDRESS]: service.url });
  expect([await kit.ended, /(\d+) passed, (\d+) failed/.exec(kit.printed())?.[2]], kit.printed()).toEqual([0, "0"]);

  const { url: databaseUrl } = await freshDatabase();
  const server = await startServer({
    ...{ databaseUrl, adminToken: "admin", masterKeys: [newMasterKey()], port: 0, datasourcesAllowPrivate: true },
  });
  const admin = createAsk(server.url, "admin");
  const { body: organization } = await admin.ask("POST", "/v1/organizations", { json: { name: "o" } });
  const json = { organization: organization.id, livemode: true };
  const { ask, close } = createAsk(
    server.url,
    String((await admin.ask("POST", "/v1/secret_keys", { json })).body.token),
  );
  const made = await ask("POST", "/v1/datasources", {
    json: { connection: "endpoint", endpoint: service.url, signingKey: SIGNING_KEY },
  });
  expect([made.status, made.body.status]).toEqual([201, "active"]);
  const task = {
    source: made.body.id,
    fields: { title: { type: "string", required: true }, done: { type: "boolean", default: false } },
  };
  expect((await ask("POST", "/v1/schema", { json: { models: { task } } })).status).toBe(201);

  const sqlite = new Database(file);
  const path = "/v1/models/task";
  expect((await ask("POST", path, { json: { id: "t1", data: { title: "one" } } })).status).toBe(200);
  expect(sqlite.prepare("select title, done from task where id = 't1'").get()).toMatchObject({ title: "one", done: 0 });
  const empty = await ask("PATCH", `${path}/t1`, { json: { data: { title: "" } } });
  expect([empty.status, empty.body.code, (empty.body.source as { code: string }).code]).toEqual([
    409,
    "source_refused",
    "SQLITE_CONSTRAINT_CHECK",
  ]);
  sqlite.prepare("update task set done = 1 where id = 't1'").run();
  const done = async () => ((await ask("GET", `${path}/t1`)).body.data as { done: boolean }).done;
  await until(async () => expect(await done()).toBe(true));

  killGroup(service.child, "SIGINT");
  await service.ended;
  const away = { id: "t2", data: { title: "two" }, idempotencyKey: "while-away" };
  expect((await ask("POST", path, { json: away })).body.code).toBe("source_unavailable");
  const again = await startService(new URL(service.url).port);
  await until(async () => expect(await (await ask("GET", `${path}/t2`)).status).toBe(200));
  expect((await ask("POST", path, { json: away })).headers["idempotent-replayed"]).toBe("true");
  expect(sqlite.prepare("select count(*) as count from task where id = 't2'").get()).toMatchObject({ count: 1 });
  sqlite.close();
  killGroup(again.child, "SIGINT");
  await again.ended;
  for (const end of [close, admin.close]) end();
  await server.close();
});
