import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { until } from "../../scripts/testing/until.ts";
import { type MovableClock, movableClock } from "../support/movable-clock.ts";
import { claimIn, startTenant } from "./testing/tenant.ts";

let clock: MovableClock | undefined;
const tenant = await startTenant(async (databaseUrl) => {
  clock = await movableClock(databaseUrl);
});
const { ask, askSecond, make, claim, claimOf, agent, lineOf, log } = tenant;
const move = (ms: number) => (clock as MovableClock).move(ms);
const database = new pg.Client({ connectionString: tenant.databaseUrl });
await database.connect();
afterAll(async () => {
  await database.end();
  await clock?.close();
});
/** When the claim's holder last gave a sign of life, in milliseconds since 1970. */
const seenAt = async (id: string): Promise<number> => {
  const { rows } = await database.query<{ ms: number }>(
    "select (extract(epoch from seen_at) * 1000)::float8 as ms from holdfast.claim where id = $1",
    [id],
  );
  return rows[0]?.ms ?? Number.NaN;
};

const [ann, bob, eve] = (
  await Promise.all(["ann", "bob", "eve"].map((name) => agent(name, { ttlSeconds: 86_400 })))
).map(({ token }) => token) as [string, string, string];
let written = 0;
const write = (token: string, id: string, rest: object = {}) =>
  ask("PATCH", `/v1/models/slide/${id}`, { token, json: { data: { title: `${++written}` }, ...rest } });

test("[A21] the server uses the tests' clock as the database's", async () => {
  await make("clock");
  const before = claimIn(await claim(ann, "clock", { ttl: "5s" }));
  await move(3_600_000);
  const entry = (await write(bob, "clock")).body;
  expect(entry.status).toBe("confirmed");
  const at = Date.parse((await log()).at(-1)?.createdAt ?? "");
  expect(at - Date.parse(before.createdAt)).toBeGreaterThanOrEqual(3_600_000);
  expect((await claimOf(ann, before.id)).status).toBe("expired");
});

test("[A21] if the database's clock steps back a minute, no two participants hold one record, and a lease ends at most a minute late", async () => {
  // Later than everything before, because a log's time never runs backwards.
  const base = 7_200_000;
  await move(base);
  await make("step");
  const first = claimIn(await claim(ann, "step", { ttl: "5s" }));
  await write(ann, "step", { claim: first.id });
  await move(base - 60_000);
  for (const where of [ask, askSecond]) {
    const refused = await claim(bob, "step", {}, where);
    expect(refused.status).toBe(409);
    expect(refused.body.code).toBe("claim_conflict");
  }
  expect((await write(ann, "step", { claim: first.id })).status).toBe(200);
  expect((await write(bob, "step")).body.code).toBe("claim_conflict");
  const waits = claimIn(await claim(bob, "step", { queue: true }));
  // The lease was for 5 s; after 65 s it is over, whatever the clock did.
  await move(base - 60_000 + 55_000);
  expect((await claimOf(ann, first.id)).status).toBe("active");
  await move(base - 60_000 + 65_500);
  const granted = await ask("GET", `/v1/claims/${waits.id}?wait=10000`, { token: bob });
  expect(granted.body).toMatchObject({ status: "active", fence: expect.any(Number) });
  expect((await write(ann, "step", { claim: first.id })).body.code).toBe("claim_lost");
  const { claims } = await lineOf("step");
  expect(claims.map(({ id }) => id)).toEqual([waits.id]);
  expect(claims[0]?.fence).toBeGreaterThan(first.fence as number);
  const times = (await log()).map(({ createdAt }) => Date.parse(createdAt));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

test("[A21] [A5] a step back between a release and the next grants does not reorder or prevent them", async () => {
  const base = 14_400_000;
  await move(base);
  await make("order");
  const held = claimIn(await claim(ann, "order"));
  const second = claimIn(await claim(bob, "order", { queue: true }));
  await move(base - 60_000);
  const third = claimIn(await claim(eve, "order", { queue: true }, askSecond));
  expect(third.position).toBe(1);
  await ask("DELETE", `/v1/claims/${held.id}`, { token: ann });
  expect((await lineOf("order")).claims.map(({ id }) => id)).toEqual([second.id]);
  await askSecond("DELETE", `/v1/claims/${second.id}`, { token: bob });
  expect((await lineOf("order")).claims.map(({ id }) => id)).toEqual([third.id]);
});

test("[A6] a disconnected waiter is passed over after half a minute and keeps its position; the next waiter gets the claim", async () => {
  const base = 21_600_000;
  await move(base);
  await make("died");
  const held = claimIn(await claim(ann, "died", { ttl: "1h" }));
  const first = claimIn(await claim(bob, "died", { queue: true, clientId: "laptop" }));
  const asked = await seenAt(first.id);
  await move(base + 1_000);
  const stream = new WebSocket(`${tenant.servers[0].url.replace("http", "ws")}/v1/stream`, ["holdfast.v1"]);
  await new Promise((resolve) => stream.once("open", resolve));
  stream.send(JSON.stringify({ frame: "hello", token: bob, clientId: "laptop" }));
  await new Promise((resolve) => stream.once("message", resolve));
  // A client that connects sends a sign of life a moment later. The clock may move only after that.
  await until(async () => expect(await seenAt(first.id)).toBeGreaterThanOrEqual(asked + 1_000));
  stream.close();
  await new Promise((resolve) => stream.once("close", resolve));
  const second = claimIn(await claim(eve, "died", { queue: true }));
  await move(base + 33_000);
  // The next waiter still polls, the first one does not.
  expect(await claimOf(eve, second.id)).toMatchObject({ status: "queued", position: 1 });
  await ask("DELETE", `/v1/claims/${held.id}`, { token: ann });
  expect((await claimOf(eve, second.id)).status).toBe("active");
  expect((await lineOf("died")).queue).toMatchObject([{ id: first.id, status: "queued", position: 0 }]);
});
