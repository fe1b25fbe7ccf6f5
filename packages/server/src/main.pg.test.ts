import { once } from "node:events";
import { mkdtemp, readFile, stat, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { temporaryFolder } from "../../../scripts/testing/temporary-folder.ts";
import { until } from "../../../scripts/testing/until.ts";
import { newMasterKey, newSecretToken } from "./server.ts";
import { caller, referenceSchema } from "./testing/app.ts";
import { freshDatabase } from "./testing/database.ts";
import { startProgram } from "./testing/programs/program.ts";
import { connected } from "./testing/run-sql.ts";
import { openStream } from "./testing/stream/stream.ts";

const { url: DATABASE_URL } = await freshDatabase();
const folder = temporaryFolder("main");
const running: ReturnType<typeof startProgram>[] = [];
afterAll(async () => {
  for (const program of running) program.child.kill("SIGKILL");
  await Promise.all(running.map(({ ended }) => ended));
});
const start = (...words: Parameters<typeof startProgram>) => {
  const program = startProgram(...words);
  running.push(program);
  return program;
};
const file = async (name: string, content: unknown) => {
  const path = join(folder, name);
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
};
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
const KEY = newSecretToken(true);
const ADMIN = "an_operator_of_the_tests";
const MASTER_KEY = newMasterKey();
const given = {
  DATABASE_URL,
  HOLDFAST_SECRET_KEY: KEY,
  HOLDFAST_MASTER_KEY: MASTER_KEY,
  HOLDFAST_ADMIN_TOKEN: ADMIN,
};
const schema = await file("schema.json", referenceSchema);

test.concurrent("[O1] the program prints its options, makes keys, and refuses with one sentence", async () => {
  const [help, key, masterKey, option, lacking, nowhere, noFile, noJson, noSchema, noFields] = [
    start({}, ["--help"]),
    start({}, ["--new-key", "test"]),
    start({}, ["--new-master-key"]),
    start({}, ["--nothing"]),
    start({ DATABASE_URL }),
    start({ ...given, DATABASE_URL: "postgres://127.0.0.1:1/none" }),
    start({ ...given, HOLDFAST_SCHEMA: join(folder, "none.json") }),
    start({ ...given, HOLDFAST_SCHEMA: await file("broken.json", "{") }),
    start({ ...given, HOLDFAST_SCHEMA: await file("list.json", []) }),
    start({ ...given, HOLDFAST_SCHEMA: await file("no-fields.json", { models: { slide: {} } }) }),
  ];
  expect((await help.ended).code).toBe(0);
  expect(help.stdout()).toContain("HOLDFAST_LOG_RETENTION_DAYS");
  expect((await key.ended).code).toBe(0);
  expect(key.stdout()).toMatch(/^sk_test_[0-9A-Za-z]{36}\n$/);
  expect((await masterKey.ended).code).toBe(0);
  expect(Buffer.from(masterKey.stdout(), "base64")).toHaveLength(32);
  for (const [program, sentence] of [
    [option, /"--nothing" is not an option/],
    [lacking, /set HOLDFAST_SECRET_KEY/],
    [nowhere, /ECONNREFUSED/],
    [noFile, /HOLDFAST_SCHEMA cannot be read/],
    [noJson, /is not JSON/],
    [noSchema, /list\.json\) cannot be pushed \(invalid_body\): The body must be a JSON object\.\n/],
    [
      noFields,
      /cannot be pushed \(missing_field\): models\.slide\.fields: A required field is missing; `param` names it\.\n/,
    ],
  ] as const) {
    expect((await program.ended).code).toBe(1);
    expect(program.log()).toMatch(sentence);
    expect(program.log()).not.toContain(KEY);
    expect(program.log()).not.toMatch(/ at .*\.ts/);
    expect(program.stdout()).toBe("");
  }
});

test("[O31] with a log of text, the line for programs on stdout stays JSON", async () => {
  const program = start({ ...given, HOLDFAST_LOG_FORMAT: "text", HOLDFAST_RATESK: "7" });
  await program.url;
  expect(program.stdout()).toMatch(/^\{"object":"listening","url":"http:\/\/127\.0\.0\.1:\d+"\}\n$/);
  expect(program.log()).toMatch(/^\d\d:\d\d:\d\d WARN {2}HOLDFAST_RATESK is not a setting of the server\./m);
  expect((await program.stop()).code).toBe(0);
});

test("[O3] [O8] [O5] a start pushes the schema, a restart keeps the data, another key revokes the one before", async () => {
  const first = start({ ...given, HOLDFAST_SCHEMA: schema, HOLDFAST_RATESK: "7" });
  const call = caller(await first.url, KEY);
  expect(first.log()).toContain('"event":"unknown_setting","name":"HOLDFAST_RATESK"');
  expect(first.stdout()).toMatch(/^\{"object":"listening","url":"http:\/\/127\.0\.0\.1:\d+"\}\n$/);
  expect((await call("POST", "/v1/models/slide", { json: { id: "s1", data: { title: "kept" } } })).status).toBe(200);
  expect((await first.stop()).code).toBe(0);

  const dropped = { models: { ...referenceSchema.models, slide: { fields: { title: { type: "number" } } } } };
  const refused = start({ ...given, HOLDFAST_SCHEMA: await file("narrow.json", dropped) });
  expect((await refused.ended).code).toBe(1);
  expect(refused.log()).toMatch(
    /cannot be pushed \(schema_incompatible\):\n {2}slide\.deckId: The field is removed\.\n/,
  );
  expect(refused.log()).not.toMatch(/ at .*\.ts/);

  const next = newSecretToken(true);
  const second = start({ ...given, HOLDFAST_SECRET_KEY: next, HOLDFAST_SCHEMA: schema });
  const again = caller(await second.url, next);
  expect((await again("GET", "/v1/models/slide/s1")).body.data).toMatchObject({ title: "kept" });
  expect((await again("GET", "/v1/log", { token: KEY })).body.code).toBe("token_revoked");
  const organizations = await again("GET", "/v1/organizations", { token: ADMIN });
  expect(organizations.body.data).toHaveLength(1);
  expect((await second.stop("SIGINT")).code).toBe(0);
  for (const { log } of [first, refused, second])
    for (const secret of [KEY, next, ADMIN, MASTER_KEY, DATABASE_URL]) expect(log()).not.toContain(secret);

  const old = start(given);
  expect((await old.ended).code).toBe(1);
  expect(old.log()).toContain("is a revoked key");
});

test("[O5] SIGTERM under load: requests in flight and polls are answered, sockets close with 1012, and the process exits with 0", async () => {
  const key = newSecretToken(true);
  const program = start({ ...given, HOLDFAST_SECRET_KEY: key, HOLDFAST_SCHEMA: schema });
  const url = await program.url;
  const call = caller(url, key);
  const { port } = new URL(url);
  // Connected, and never says a word: a browser does that too.
  const mute = connect(Number(port), "127.0.0.1");
  await new Promise((resolve) => mute.once("connect", resolve));
  mute.on("error", () => {});
  const stream = await openStream(url);
  stream.send({ frame: "hello", token: key });
  await stream.next("welcome");
  const head = Number((await call("GET", "/v1/log?limit=1")).body.stamp);
  const poll = call("GET", `/v1/log?after=${head + 100}&wait=20000`).catch((error: Error) => error);
  const waiting = call("GET", `/v1/log?after=${head}&wait=25000&model=document`);
  const writes = Array.from({ length: 100 }, (_, i) =>
    call("POST", "/v1/models/slide", { json: { id: `term${i}`, data: {} }, key: `term${i}` }),
  );
  await writes[0];
  const ended = program.stop();
  const outcomes = await Promise.allSettled(writes);
  // Each request is answered, gets 503, or is not accepted: no response is cut off.
  const statuses = outcomes.map((outcome) =>
    outcome.status === "fulfilled" ? outcome.value.status : (outcome.reason as NodeJS.ErrnoException).code,
  );
  expect(statuses.filter((status) => ![200, 503, "ECONNREFUSED", "ECONNRESET"].includes(status as number))).toEqual([]);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
  expect((await waiting).status).toBe(200);
  // A client that is answered now sends its next request elsewhere.
  expect((await waiting).headers.connection).toBe("close");
  await poll;
  expect((await stream.closed).code).toBe(1012);
  expect(await ended).toEqual({ code: 0, signal: null });
  mute.destroy();

  const next = start({ ...given, HOLDFAST_SECRET_KEY: key });
  const after = caller(await next.url, key);
  for (const [i, status] of statuses.entries())
    if (status === 200)
      expect(
        (await after("POST", "/v1/models/slide", { json: { id: `term${i}`, data: {} }, key: `term${i}` })).headers[
          "idempotent-replayed"
        ],
      ).toBe("true");
  await next.stop();
});

test.concurrent("[O2] [O7] without settings the server starts its own Postgres and makes keys that only its owner may read", async () => {
  const dataDir = await mkdtemp(join(folder, "data-"));
  const env = { HOLDFAST_DATA_DIR: dataDir, HOLDFAST_SCHEMA: schema, HOLDFAST_LOG_LEVEL: "trace" };
  const first = start(env);
  await first.url;
  const keys = JSON.parse(await readFile(join(dataDir, "keys.json"), "utf8")) as { live: string; test: string };
  const admin = (await readFile(join(dataDir, "admin-token"), "utf8")).trim();
  for (const name of ["keys.json", "admin-token"]) expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600);
  const call = caller(await first.url, keys.live);
  expect((await call("GET", "/livez", { token: null })).body.status).toBe("live");
  expect((await call("GET", "/readyz", { token: null })).body.status).toBe("ready");
  expect((await call("POST", "/v1/models/slide", { json: { id: "s1", data: {} } })).status).toBe(200);
  expect((await call("GET", "/v1/models/slide/s1", { token: keys.test })).status).toBe(404);
  expect((await call("GET", "/v1/organizations", { token: admin })).status).toBe(200);
  await call("GET", `/v1/log?token=${keys.live}`);
  expect((await first.stop()).code).toBe(0);

  const second = start(env);
  const again = caller(await second.url, keys.live);
  expect((await again("GET", "/v1/models/slide/s1")).status).toBe(200);
  expect((await second.stop()).code).toBe(0);
  const password = (await readFile(join(dataDir, "postgres/password"), "utf8")).trim();
  for (const { log } of [first, second]) {
    expect(log()).toContain("keys.json");
    for (const secret of [keys.live, keys.test, admin, password]) expect(log()).not.toContain(secret);
  }
});

test.concurrent("[O21] while the database is made ready the process is live, not ready, and can be stopped", async () => {
  const { url: databaseUrl } = await freshDatabase();
  // Another process migrates, and takes long.
  const migrating = await connected(databaseUrl);
  await migrating.query("select pg_advisory_lock(4270001)");
  const [PORT, OTHER_PORT] = [String(await freePort()), String(await freePort())];
  const env = { ...given, DATABASE_URL: databaseUrl };
  const [program, stopped] = [start({ ...env, PORT }), start({ ...env, PORT: OTHER_PORT })];
  const base = `http://127.0.0.1:${PORT}`;
  const statusOf = (path: string, at = base) =>
    fetch(at + path).then(
      ({ status }) => status,
      () => 0,
    );
  await until(async () => expect(await statusOf("/livez")).toBe(200));
  const ready = await fetch(`${base}/readyz`);
  expect(ready.status).toBe(503);
  expect(ready.headers.get("retry-after")).toBe("1");
  expect(ready.headers.get("connection")).toBe("close");
  expect(await ready.json()).toMatchObject({ code: "unavailable", message: expect.stringContaining("starting") });
  const post = { method: "POST", body: "{}", headers: { authorization: `Bearer ${KEY}` } };
  expect((await fetch(`${base}/v1/commits`, post)).status).toBe(503);
  expect((await fetch(`${base}/livez`, post)).status).toBe(503);
  const upgrade = openStream(base);
  await expect(upgrade).rejects.toThrow("503");

  await until(async () => expect(await statusOf("/livez", `http://127.0.0.1:${OTHER_PORT}`)).toBe(200));
  expect(await stopped.stop()).toEqual({ code: 0, signal: null });

  // Callers who never finish what they say do not keep the server from its address.
  const slow = await Promise.all(
    ["GET /livez", "POST /livez", "POST /v1/commits"].map(async (line) => {
      const socket = connect(Number(PORT), "127.0.0.1");
      socket.on("error", () => {});
      await once(socket, "connect");
      socket.write(`${line} HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n{`);
      return { socket, dribble: setInterval(() => socket.write(" "), 100) };
    }),
  );
  await migrating.end();
  // They still send, and have not ended.
  expect(await program.url).toBe(base);
  for (const { socket, dribble } of slow) {
    clearInterval(dribble);
    socket.destroy();
  }
  expect((await caller(base, KEY)("GET", "/readyz", { token: null })).status).toBe(200);
  expect((await program.stop()).code).toBe(0);
});

test.concurrent("[O4] several servers that start at once on one empty database all listen, and share one organization", async () => {
  const { url } = await freshDatabase();
  const key = newSecretToken(false);
  const three = Array.from({ length: 3 }, () =>
    start({ ...given, DATABASE_URL: url, HOLDFAST_SECRET_KEY: key, HOLDFAST_SCHEMA: schema }),
  );
  const calls = (await Promise.all(three.map((program) => program.url))).map((address) => caller(address, key));
  for (const [i, call] of calls.entries())
    expect((await call("POST", "/v1/models/slide", { json: { id: `s${i}`, data: {} } })).body.lastSyncId).toBe(i + 1);
  expect((await calls[0]!("GET", "/v1/organizations", { token: ADMIN })).body.data).toHaveLength(1);
  expect((await calls[0]!("GET", "/v1/schema")).body.version).toBe(1);
  await Promise.all(three.map((program) => program.stop()));
});
