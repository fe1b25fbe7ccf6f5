import { spawn } from "node:child_process";
import { afterAll, expect, test } from "vitest";
import { startApp } from "../../testing/app.ts";
import { smallServers } from "../../testing/small-server.ts";
import { newSigningKey } from "../../testing/source-service.ts";

const app = await startApp({ datasourcesAllowPrivate: true });
const smallServer = smallServers(app);
const ORGANIZATIONS = 20;
const QUESTIONS = 300;

/** A service in a process of its own that answers 16 MiB of empty lists to whatever is asked. */
const service = spawn(
  process.execPath,
  [
    "-e",
    `const body = Buffer.from('{"events":[' + "[],".repeat(5_500_000) + '[]]}');
    require("node:http").createServer((asked, answer) => { asked.resume(); asked.on("end", () => answer.end(body)); })
      .listen(0, "127.0.0.1", function () { console.log(this.address().port); });`,
  ],
  { stdio: ["ignore", "pipe", "inherit"] },
);
afterAll(() => void service.kill());
const port = await new Promise<string>((resolve) =>
  service.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString().trim())),
);

test("[DS93] while the services of 20 organizations answer 16 MiB of lists, other tenants' requests take at most three times as long (p99)", async () => {
  const { call } = await smallServer(256, { datasourcesAllowPrivate: true });
  const token = app.keys.other;
  const slowest = async () => {
    const took: number[] = [];
    for (let n = 0; n < QUESTIONS; n++) {
      const since = performance.now();
      expect((await call("GET", "/v1/models/slide?limit=20", { token })).status).toBe(200);
      took.push(performance.now() - since);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return took.sort((a, b) => a - b)[Math.floor(0.99 * QUESTIONS)] as number;
  };
  await slowest();
  const free = await slowest();
  const owners: string[] = [];
  for (let n = 0; n < ORGANIZATIONS; n++) {
    const owner = await app.newOrganization();
    owners.push(owner.token);
    const { status, body } = await call("POST", "/v1/datasources", {
      token: owner.token,
      json: { connection: "endpoint", endpoint: `http://127.0.0.1:${port}`, signingKey: newSigningKey() },
    });
    expect(status).toBe(201);
    const models = { thing: { fields: { title: { type: "string" } }, source: body.id } };
    expect((await call("POST", "/v1/schema", { token: owner.token, json: { models } })).status).toBe(201);
  }
  let isOver = false;
  const writers = owners.map(async (owner, n) => {
    for (let i = 0; !isOver; i++)
      await call("POST", "/v1/models/thing", { token: owner, json: { id: `t${n}-${i}`, data: { title: "x" } } });
  });
  const beside = await slowest();
  isOver = true;
  await Promise.all(writers);
  console.log("p99", free, beside);
  const { body } = await call("GET", "/v1/datasources", { token: owners[0] as string });
  const [told] = (body.data as { connection: string; last_error?: string }[]).filter(
    (one) => one.connection === "endpoint",
  );
  expect(told?.last_error).toMatch(/more than \d+ (bytes|JSON values)/);
  expect(beside).toBeLessThan(3 * Math.max(free, 10));
});
