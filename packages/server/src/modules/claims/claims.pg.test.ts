import type { Claim, ClaimList, LogEntry } from "@holdfast/sdk/protocol";
import { afterEach, expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { type Answer, startApp } from "../../testing/app.ts";
import { follow } from "../../testing/stream/stream.ts";
import { countReceived } from "../../testing/waiting/metrics.ts";

const app = await startApp({ metricsLoopback: true });
const second = await app.another();
const { agent, call, keys, url, sql } = app;
const slides = "/v1/models/slide";

const make = (id: string) => call("POST", slides, { json: { id, data: { title: "a" } } });
const claim = (token: string, id: string, json: object = {}, where = call) =>
  where("POST", `${slides}/${id}/claim`, { token, json });
let written = 0;
const write = (token: string, id: string, data: object = { title: `${++written}` }, rest: object = {}) =>
  call("PATCH", `${slides}/${id}`, { token, json: { data, ...rest } });
const release = (token: string, claimId: string) => call("DELETE", `/v1/claims/${claimId}`, { token });
const read = async (token: string, claimId: string) =>
  (await call("GET", `/v1/claims/${claimId}`, { token })).body as unknown as Claim;
const lineOf = async (id: string) =>
  (await call("GET", `/v1/claims?model=slide&id=${id}`)).body as unknown as ClaimList;
const claimOf = ({ body }: Answer) => body as unknown as Claim;
/** Lets time pass for claims: what they wait for lies that much further back. */
const age = (ms: number, where: string) =>
  sql(
    `update holdfast.claim set expires_at = expires_at - make_interval(secs => ${ms / 1000}), granted_at = granted_at - make_interval(secs => ${ms / 1000}),
       seen_at = seen_at - make_interval(secs => ${ms / 1000}) where ${where}`,
  );

// Claims that still wait would cause deadlocks in the next test.
afterEach(() => sql("delete from holdfast.claim"));

const hear = (token: string, hello: object = {}, where = url) => follow(where, token, hello);

const [ann, bob, eve] = await Promise.all([agent("ann"), agent("bob"), agent("eve")]);

test("[A5] [A12] 50 wait; over two servers each is granted in the order it came, one at a time, with greater fences", async () => {
  await make("line");
  const tokens = await Promise.all(Array.from({ length: 50 }, (_, i) => agent(`w${i}`)));
  const holder = claimOf(await claim(eve, "line"));
  const waiting: Claim[] = [];
  for (const [i, token] of tokens.entries())
    waiting.push(claimOf(await claim(token, "line", { queue: true }, i % 2 ? call : second.call)));
  expect(waiting.map(({ position }) => position)).toEqual(waiting.map((_, i) => i));
  await release(eve, holder.id);
  let fence = holder.fence as number;
  for (const [i, token] of tokens.entries()) {
    const { claims, queue } = await lineOf("line");
    expect(claims.map(({ id }) => id)).toEqual([waiting[i]!.id]);
    expect(queue).toHaveLength(49 - i);
    expect(claims[0]!.fence).toBeGreaterThan(fence);
    fence = claims[0]!.fence as number;
    // Only the holder can write.
    expect((await write(tokens[(i + 1) % 50]!, "line")).body.code).toBe("claim_conflict");
    expect((await write(token, "line", { order: i }, { claim: waiting[i]!.id })).status).toBe(200);
    expect((await release(token, waiting[i]!.id)).body).toMatchObject({ released: 1 });
  }
  expect((await lineOf("line")).data).toEqual([]);
});

test("[A6] a silent waiter goes after five minutes", async () => {
  await make("s8");
  await claim(ann, "s8", { queue: true });
  const gone = claimOf(await claim(eve, "s8", { queue: true }));
  await age(301_000, `id = '${gone.id}'`);
  await until(async () => (await read(bob, gone.id)).status === "canceled");
});

test("[A6] a poll, a renewal or a new request wakes a silent waiter whose turn it is", async () => {
  for (const [i, sign] of (
    [
      (id: string) => call("GET", `/v1/claims/${id}`, { token: bob }),
      (id: string) => call("POST", `/v1/claims/${id}/renew`, { token: bob }),
      () => claim(bob, `wake2`, { queue: true }),
    ] as const
  ).entries()) {
    await make(`wake${i}`);
    const first = claimOf(await claim(ann, `wake${i}`));
    const silent = claimOf(await claim(bob, `wake${i}`, { queue: true }));
    await age(31_000, `id = '${silent.id}'`);
    await release(ann, first.id);
    expect((await lineOf(`wake${i}`)).claims).toEqual([]);
    // A silent waiter blocks no one, but keeps its place: after a sign of life it is granted first.
    expect((await sign(silent.id)).body).toMatchObject({ status: "active" });
  }
});

test("[A6] an open stream is a sign of life, of its own device only", async () => {
  await make("s9");
  await claim(ann, "s9");
  const device = claimOf(await claim(bob, "s9", { queue: true, clientId: "laptop" }));
  const any = claimOf(await claim(eve, "s9", { queue: true }));
  await age(31_000, `record = 's9'`);
  const seen = async (id: string) =>
    (
      await sql<{ silent: boolean }>(
        "select seen_at < clock_timestamp() - interval '30 s' as silent from holdfast.claim where id = $1",
        [id],
      )
    )[0]?.silent;
  await hear(bob, { clientId: "phone" });
  await hear(eve, { clientId: "whatever" });
  await until(async () => (await seen(any.id)) === false);
  expect(await seen(device.id)).toBe(true);
  await hear(bob, { clientId: "laptop" });
  await until(async () => (await seen(device.id)) === false);
});

test("[A8] two who close a circle at the same moment: one of them is refused", async () => {
  for (let round = 0; round < 8; round++) {
    const [x, y] = [`x${round}`, `y${round}`];
    await make(x);
    await make(y);
    await claim(ann, x);
    await claim(bob, y);
    const answers = await Promise.all([
      claim(ann, y, { queue: true }),
      claim(bob, x, { queue: true }, round % 2 ? call : second.call),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
    await call("DELETE", `${slides}/${x}/claim`, { token: ann });
    await call("DELETE", `${slides}/${y}/claim`, { token: ann });
    await call("DELETE", `${slides}/${y}/claim`, { token: bob });
    await call("DELETE", `${slides}/${x}/claim`, { token: bob });
  }
});

test("[A12] if a write and a claim arrive at once on two servers, the write is before the grant or refused", async () => {
  for (let round = 0; round < 25; round++) {
    const id = `at-once${round}`;
    await make(id);
    const [taken, written] = await Promise.all([
      claim(ann, id, {}, round % 2 ? call : second.call),
      write(bob, id, { title: "bob's" }),
    ]);
    expect(taken.status).toBe(201);
    const entry = ((await call("GET", `${slides}/${id}/history?order=desc`)).body.data as LogEntry[])[0]!;
    if (written.status === 200)
      expect(Date.parse(entry.createdAt)).toBeLessThanOrEqual(Date.parse(claimOf(taken).createdAt));
    else expect([written.body.code, entry.verb]).toEqual(["claim_conflict", "created"]);
  }
});

test("[A12] a tenant's count of living claims, by which a round knows whether to ask for any, keeps up", async () => {
  const counted = async () => {
    const [row] = await sql<{ counted: number; living: number }>(
      `select h.claims as counted, (select count(*)::int from holdfast.claim c where c.tenant = h.tenant and c.ended_at is null) as living
       from holdfast.head h join holdfast.tenant w on w.id = h.tenant where w.organization = $1 and w.livemode`,
      [app.organization],
    );
    return [row!.counted, row!.living];
  };
  // The tests before have taken rows away by hand.
  await sql("update holdfast.head set claims = 0");
  expect(await counted()).toEqual([0, 0]);
  await make("n1");
  const held = claimOf(await claim(ann, "n1"));
  await claim(bob, "n1", { queue: true }, second.call);
  await claim(eve, "n1", { queue: true });
  await claim(eve, "n1");
  expect(await counted()).toEqual([3, 3]);
  // Another process learns of it with the head, whatever it believed.
  expect((await second.call("PATCH", `${slides}/n1`, { token: eve, json: { data: { title: "x" } } })).status).toBe(409);
  await release(ann, held.id);
  expect(await counted()).toEqual([2, 2]);
  await call("DELETE", `${slides}/n1`, { token: bob });
  expect(await counted()).toEqual([0, 0]);
});

test("[A15] claims and lines survive a restart", async () => {
  await make("s19");
  const held = claimOf(await claim(ann, "s19", { ttl: "5m" }));
  const waits = claimOf(await claim(bob, "s19", { queue: true }));
  const third = await app.another();
  await third.server.close();
  const fourth = await app.another();
  const line = (await fourth.call("GET", "/v1/claims?model=slide&id=s19")).body as unknown as ClaimList;
  expect(line.data.map(({ id }) => id)).toEqual([held.id, waits.id]);
  expect((await fourth.call("DELETE", `/v1/claims/${held.id}`, { token: ann })).body.released).toBe(1);
  expect((await read(bob, waits.id)).status).toBe("active");
});

test("[A16] a poll on another server is answered when its claim is granted or moves up", async () => {
  await make("s20");
  const held = claimOf(await claim(ann, "s20"));
  const next = claimOf(await claim(bob, "s20", { queue: true }));
  // A poll is answered by a move after it has begun to listen, and the test cannot see when it does: there are many moves.
  const before: { id: string; token: string }[] = [];
  for (let n = 0; n < 12; n++) {
    const token = await agent(`before-${n}`);
    before.push({ id: claimOf(await claim(token, "s20", { queue: true })).id, token });
  }
  const behind = claimOf(await claim(eve, "s20", { queue: true }));
  const poll = (id: string, token: string) => second.call("GET", `/v1/claims/${id}?wait=20000`, { token });
  // Nothing changes for this one: it is answered when its 20 s are over, and it was asked first.
  await make("s20-beside");
  await claim(ann, "s20-beside");
  const unmoved = claimOf(await claim(bob, "s20-beside", { queue: true }));
  let isOver = false;
  const received = await countReceived(second.call);
  const beside = poll(unmoved.id, bob).then(() => {
    isOver = true;
  });
  await received.reaches(1);
  const polls = Promise.all([poll(next.id, bob), poll(behind.id, eve)]);
  await received.reaches(3);
  await release(ann, held.id);
  for (const { id, token } of before) await release(token, id);
  const [granted, moved] = await polls;
  expect(isOver).toBe(false);
  expect(granted.body).toMatchObject({ status: "active" });
  expect(moved.body.status).toBe("queued");
  expect(moved.body.position).toBeLessThan(13);
  await release(bob, unmoved.id);
  await beside;
});

test("[A17] a watcher and a claimant on another server hear of each change", async () => {
  await make("s21");
  const watcher = await hear(keys.live, {}, second.server.url);
  const own = await hear(bob, {}, second.server.url);
  watcher.send({ frame: "watch", model: "Slide", ids: ["s21"] });
  expect(await watcher.next("claims")).toMatchObject({ id: "s21", claims: [] });
  const held = claimOf(await claim(ann, "s21"));
  expect(await watcher.next("claims")).toMatchObject({ claims: [{ id: held.id, actor: "ann" }], queue: [] });
  const waits = claimOf(await claim(bob, "s21", { queue: true }));
  expect(await own.next("claim")).toMatchObject({ claim: { id: waits.id, status: "queued", position: 0 } });
  expect(await watcher.next("claims")).toMatchObject({ queue: [{ id: waits.id, position: 0 }] });
  await release(ann, held.id);
  expect(await own.next("claim")).toMatchObject({ claim: { id: waits.id, status: "active" } });
  expect(await watcher.next("claims")).toMatchObject({ claims: [{ id: waits.id }], queue: [] });
});

test("[A22] a participant has up to 1 000 claims: the next is 429, and one that it releases makes room", async () => {
  const fresh = await startApp({ metricsLoopback: true });
  const made = await fresh.call("POST", "/v1/models/slide", { json: { id: "many", data: {} } });
  expect(made.status).toBe(200);
  const first = await fresh.call("POST", "/v1/models/slide/many/claim");
  // As if it had asked 999 times more, for other records.
  await fresh.sql(
    `insert into holdfast.claim (tenant, id, model, record, status, participant, token, action, ttl_ms, place, fence, change, created_at, granted_at, expires_at, seen_at)
     select tenant, id || n, model, 'r' || n, status, participant, token, action, 3600000, place + n, fence, change, created_at, granted_at, expires_at + interval '1 hour', seen_at
     from holdfast.claim, generate_series(1, 999) n`,
  );
  await fresh.sql("update holdfast.head set claims = claims + 999 where claims > 0");
  await fresh.call("POST", "/v1/models/slide", { json: { id: "next", data: {} } });
  const next = () => fresh.call("POST", "/v1/models/slide/next/claim");
  expect((await next()).status).toBe(429);
  expect((await next()).body.code).toBe("too_many_claims");
  expect((await fresh.call("DELETE", `/v1/claims/${first.body.id}`)).status).toBe(200);
  expect((await next()).status).toBe(201);
});
