import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { generate } from "selfsigned";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../../../scripts/testing/temporary-folder.ts";
import { until } from "../../../../../../scripts/testing/until.ts";
import { anotherDatabase } from "../../../testing/another-database.ts";
import { startApp } from "../../../testing/app.ts";
import { ENDLESS_ROW, endlessly, FILLER, falseDatabase, NO_ROWS, NOTICE } from "../../../testing/false-database.ts";
import { wayTo } from "../../../testing/postgres-way.ts";

const app = await startApp({ datasourcesAllowPrivate: true });
const { call } = app;

const register = (connectionString: string) =>
  call("POST", "/v1/datasources", { json: { connection: "direct", connectionString } });
const read = async (id: unknown) => (await call("GET", `/v1/datasources/${id}`)).body;
const isUntouched = async (sql: (text: string) => Promise<unknown[]>) =>
  expect(await sql("select from pg_namespace where nspname = 'holdfast'")).toEqual([]);

/** A connection string that goes another way. */
function by(connectionString: string, host: string, port: number, sslmode = "disable"): string {
  const { username, password, pathname } = new URL(connectionString);
  return `postgres://${username}:${password}@${host}:${port}${pathname}?sslmode=${sslmode}`;
}

test("[DS20] [DS141] the service's own database is found out by any other name, port or role", async () => {
  const port = await wayTo(app.databaseUrl);
  await app.sql("create role stranger superuser login password 'stranger'");
  try {
    const asStranger = by(app.databaseUrl, "127.0.0.1", port).replace(/\/\/[^@]*@/, "//stranger:stranger@");
    for (const connectionString of [
      ...["127.0.0.1", "localhost", "localhost.", "[::ffff:127.0.0.1]", "0.0.0.0"].map((host) =>
        by(app.databaseUrl, host, port),
      ),
      asStranger,
    ]) {
      const { status, body } = await register(connectionString);
      // A resolver need not know each of these names.
      if (body.code !== "datasource_unreachable") expect([status, body.code]).toEqual([409, "datasource_in_use"]);
    }
    expect((await register(asStranger)).body.code).toBe("datasource_in_use");
    expect(await app.sql("select from holdfast.service_secret where name = 'belongs_to'")).toEqual([]);
  } finally {
    await app.sql("drop role stranger");
  }
});

/** A real Postgres 14 is nowhere here: a way that changes what this one says stands for it. */
test("[DS20] [DS141] an old Postgres is refused with its version", async () => {
  const { connectionString, sql } = await anotherDatabase(app);
  const rewrite = (bytes: Buffer) =>
    Buffer.from(bytes.toString("latin1").replace(/\b1[5-9]00\d\d\b/, "140011"), "latin1");
  const { status, body } = await register(
    by(connectionString, "127.0.0.1", await wayTo(connectionString, { rewrite })),
  );
  expect([status, body.code, body.message]).toEqual([
    400,
    "datasource_unreachable",
    "Postgres 15 or newer is needed (this is 14).",
  ]);
  await isUntouched(sql);
});

test("[DS20] [DS141] a database that takes no writes is refused; one that stops to take them is broken until it does again", async () => {
  const { connectionString, sql, name } = await anotherDatabase(app);
  // From another database: in this one it could not be undone.
  const takesWrites = (yes: boolean) =>
    app.sql(`alter database ${name} set default_transaction_read_only = ${yes ? "off" : "on"}`);
  const end = () => app.sql(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  await takesWrites(false);
  const { status, body } = await register(connectionString);
  expect([status, body.code, body.message]).toEqual([
    400,
    "datasource_unreachable",
    expect.stringMatching(/takes no writes: it is a standby, or set to read only/),
  ]);
  await isUntouched(sql);
  await takesWrites(true);
  const made = await register(connectionString);
  await until(async () => (await read(made.body.id)).status === "active");
  await takesWrites(false);
  await end();
  await until(async () => /takes no writes/.test(String((await read(made.body.id)).last_error)));
  expect((await call("POST", "/v1/models/slide", { json: { id: "a", data: {} } })).status).toBe(503);
  await takesWrites(true);
  await until(async () => (await call("POST", "/v1/models/slide", { json: { id: "a", data: {} } })).status === 200);
  await until(async () => (await read(made.body.id)).status === "active");
  await call("DELETE", `/v1/datasources/${made.body.id}`);
  await until(async () => (await call("GET", `/v1/datasources/${made.body.id}`)).status === 404);
});

test("[DS74] a role that may not open enough connections is refused with the database's reason", async () => {
  const { connectionString, sql, name } = await anotherDatabase(app);
  await sql("create role narrow login password 'narrow' connection limit 3");
  try {
    await sql(`grant all on database ${name} to narrow`);
    const url = Object.assign(new URL(connectionString), { username: "narrow", password: "narrow" }).href;
    const { status, body } = await register(url);
    expect([status, body.code]).toEqual([400, "datasource_unreachable"]);
    expect(body.message).toMatch(/has to accept 15 connections of the role .*too many connections for role "narrow"/);
    await isUntouched(sql);
    await sql("alter role narrow connection limit 20");
    const made = await register(url);
    expect(made.status).toBe(201);
    await until(async () => (await read(made.body.id)).status === "active");
    await call("DELETE", `/v1/datasources/${made.body.id}`);
    await until(async () => (await call("GET", `/v1/datasources/${made.body.id}`)).status === 404);
  } finally {
    await sql("drop owned by narrow cascade");
    await sql("drop role narrow");
  }
});

const certificateOf = async (host: string) => {
  const { cert, private: key } = await generate([{ name: "commonName", value: host }], {
    keyType: "ec",
    extensions: [
      { name: "basicConstraints", cA: true },
      { name: "subjectAltName", altNames: [{ type: 2, value: host }] },
    ],
  });
  return { cert, key };
};

test("[DS66] without TLS, with a certificate of its own or of another host: refused with what to change, and nothing is sent there", async () => {
  const { connectionString, sql } = await anotherDatabase(app);
  const refusedAt = async (port: number, sslmode: string) => {
    const { status, body } = await register(by(connectionString, "localhost", port, sslmode));
    expect([status, body.code]).toEqual([400, "datasource_unreachable"]);
    return body.message;
  };
  const plain = await wayTo(connectionString);
  for (const mode of ["verify-full", "require", "no-verify"])
    expect(await refusedAt(plain, mode)).toMatch(/does not support SSL connections\. .*\?sslmode=disable/);
  const ofItself = await wayTo(connectionString, { tls: await certificateOf("localhost") });
  for (const mode of ["verify-full", "verify-ca", "require"])
    expect(await refusedAt(ofItself, mode)).toMatch(/self-signed certificate\. .*\?sslmode=no-verify/);
  await isUntouched(sql);
  const unchecked = await register(by(connectionString, "localhost", ofItself, "no-verify"));
  expect(unchecked.status).toBe(201);
  await until(async () => (await read(unchecked.body.id)).status === "active");
  await call("DELETE", `/v1/datasources/${unchecked.body.id}`);
  await until(async () => (await call("GET", `/v1/datasources/${unchecked.body.id}`)).status === 404);
});

test("[DS66] a certificate of a known authority has to be of the host, also when it is replaced later", async () => {
  const { connectionString } = await anotherDatabase(app);
  const [right, another] = [await certificateOf("localhost"), await certificateOf("elsewhere.example")];
  const known = join(temporaryFolder("known-authorities"), "known.pem");
  await writeFile(known, `${right.cert}\n${another.cert}`);
  const urls = await Promise.all(
    [right, another].map(async (tls) =>
      by(connectionString, "localhost", await wayTo(connectionString, { tls }), "verify-full"),
    ),
  );
  const script = fileURLToPath(new URL("../../../testing/programs/connect-once.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=holdfast-source", "--import", "tsx", script, ...urls],
    { env: { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: known } },
  );
  expect(stdout.trim().split("\n")).toEqual([
    '"connected"',
    expect.stringMatching(/Host: localhost\. is not cert's CN: elsewhere|altnames/),
  ]);
});

test.each([
  [
    "a row without an end",
    /sent more than 64 MiB/,
    (socket: Socket): void => {
      socket.write(ENDLESS_ROW);
      endlessly(socket, FILLER);
    },
  ],
  [
    "an answer without rows",
    /no Postgres: it gave no version/,
    (socket: Socket): void => {
      socket.write(NO_ROWS);
    },
  ],
  [
    "notices without an end",
    /took longer than 15 s/,
    (socket: Socket): void => {
      const sending = setInterval(() => socket.write(NOTICE), 2_000);
      socket.on("close", () => clearInterval(sending));
    },
  ],
] as const)("[DS67] [DS157] [DS75] a database that answers with %s is refused", async (_, reason, answer) => {
  const port = await falseDatabase(answer);
  const { status, body } = await register(`postgres://a:b@127.0.0.1:${port}/x?sslmode=disable`);
  expect([status, body.code]).toEqual([400, "datasource_unreachable"]);
  expect(body.message).toMatch(reason);
});
