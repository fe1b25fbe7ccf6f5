import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { until } from "../../../../../scripts/testing/until.ts";
import { anotherDatabase } from "../../testing/another-database.ts";
import { ADMIN, startApp } from "../../testing/app.ts";
import { commandLine } from "../../testing/programs/command-line.ts";

const app = await startApp({ datasourcesAllowPrivate: true, metricsLoopback: true });
const { call } = app;
const { run } = commandLine(app, temporaryFolder("other-databases"));

interface Verbose {
  readonly status: string;
  readonly own: { readonly ok: boolean; readonly since: string };
  readonly others: { readonly serving: number; readonly away: number };
  readonly databases?: readonly { readonly id: string; readonly [key: string]: unknown }[];
}
const verbose = async (token: string | null) => {
  const { status, body, text } = await call("GET", "/readyz?verbose", { token });
  expect([status, text]).toEqual([200, text]);
  return body as unknown as Verbose;
};
const samples = async () => (await call("GET", "/metrics", { token: null })).text;

test("[O36] [O39] [O38] the operator reads which database is away, since when and why; a stranger reads how many; the status stays 200", async () => {
  expect(await verbose(null)).toEqual({
    ...{ object: "health", status: "ready" },
    own: { ok: true, since: expect.stringMatching(/^\d{4}-.*Z$/) },
    others: { serving: 0, away: 0 },
  });
  const [second, theirs] = [await anotherDatabase(app), await anotherDatabase(app)];
  await run("databases", "add", "second", second.connectionString);
  await run("tenants", "move", app.organization, "--to", "second", "--test");
  const { body } = await call("POST", "/v1/datasources", {
    json: { connection: "direct", connectionString: theirs.connectionString },
  });
  await until(async () => (await verbose(ADMIN)).databases?.every(({ ok }) => ok === true) === true);
  await until(async () => (await verbose(null)).others.serving === 2);
  await theirs.goAway();
  await until(async () => (await verbose(null)).others.away === 1);
  const stranger = await call("GET", "/readyz?verbose", { token: null });
  for (const secret of [String(body.id), theirs.name, "127.0.0.1", "localhost", "second"])
    expect(stranger.text).not.toContain(secret);
  const { databases = [] } = await verbose(ADMIN);
  const host = expect.stringMatching(/:\d+$/);
  expect(databases.toSorted((a, b) => String(b.kind).localeCompare(String(a.kind)))).toEqual([
    {
      id: expect.any(String),
      name: "second",
      kind: "operator",
      host,
      ok: true,
      since: expect.any(String),
      reason: null,
    },
    {
      id: body.id,
      name: null,
      kind: "direct",
      host,
      ok: false,
      since: expect.any(String),
      reason: expect.stringMatching(/./),
    },
  ]);
  const password = new URL(theirs.connectionString).password;
  if (password) expect(JSON.stringify(databases)).not.toContain(password);
  const since = databases.find(({ id }) => id === body.id)?.since;
  // The time is that of the first failure.
  const failures = async () => Number((await call("GET", `/v1/datasources/${body.id}`)).body.retry_count);
  const before = await failures();
  await until(async () => (await failures()) > before);
  expect((await verbose(ADMIN)).databases?.find(({ id }) => id === body.id)?.since).toBe(since);
  expect((await call("GET", "/readyz", { token: null })).body).toEqual({ object: "health", status: "ready" });

  const text = await samples();
  expect(text).toContain('holdfast_other_databases{kind="direct",state="away"} 1');
  expect(text).toContain('holdfast_other_databases{kind="direct",state="up"} 0');
  expect(text).toContain('holdfast_other_databases{kind="operator",database="second",state="up"} 1');
  expect(text).toMatch(/holdfast_other_database_connections\{kind="operator",database="second",state="idle"\} [1-9]/);
  expect(text).toContain('holdfast_other_database_waiting{kind="operator",database="second"} 0');
  expect(text).toContain('holdfast_other_database_commits_waiting{kind="operator",database="second"} 0');
  for (const secret of [String(body.id), theirs.name]) expect(text).not.toContain(secret);
  await theirs.comeBack();
  await until(async () => (await verbose(null)).others.away === 0);
  await call("DELETE", `/v1/datasources/${body.id}`);
  await run("databases", "drain", "second");
  await until(async () => (await verbose(null)).others.serving === 0);
});

test("[O36] [O38] a wrong token is refused, and counts as a failed authentication", async () => {
  const { call: strict } = await app.another({ limits: { rateFailedAuth: 2 } });
  const asked = (token: string) => strict("GET", "/readyz?verbose", { token });
  expect((await asked(app.keys.live)).body.code).toBe("apikey_invalid");
  await until(async () => (await asked("guess")).status === 429);
  // Without the word, the header says nothing: a load balancer may send any.
  expect((await strict("GET", "/readyz", { token: "guess" })).status).toBe(200);
});
