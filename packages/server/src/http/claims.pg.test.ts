import type { Claim, ClaimList, LogEntry } from "@holdfast/sdk/protocol";
import { afterAll, afterEach, expect, test } from "vitest";
import { type Answer, type Asking, startApp } from "../testing/app.ts";
import { follow, type TestStream } from "../testing/stream.ts";

const app = await startApp();
const second = await app.another();
const { call, keys, url, sql } = app;
const slides = "/v1/models/slide";

const agent = async (name: string, operations: string[] = ["slide.*"], syncGroups?: string[]) =>
  String(
    (
      await call("POST", "/v1/capabilities", {
        json: { operations, syncGroups: syncGroups ?? [`org:${app.organization}`], participantId: name },
      })
    ).body.token,
  );
const person = async (id: string, operations: string[] = ["slide.*"]) =>
  String(
    (
      await call("POST", "/v1/ephemeral_keys", {
        json: { user: { id }, operations, syncGroups: [`org:${app.organization}`] },
      })
    ).body.token,
  );
const make = (id: string, data: object = {}) => call("POST", slides, { json: { id, data: { title: "a", ...data } } });
const claim = (token: string, id: string, json: object = {}, where = call) =>
  where("POST", `${slides}/${id}/claim`, { token, json });
const write = (token: string, id: string, data: object = { title: `${Math.random()}` }, rest: object = {}) =>
  call("PATCH", `${slides}/${id}`, { token, json: { data, ...rest } });
const release = (token: string, claimId: string) => call("DELETE", `/v1/claims/${claimId}`, { token });
const read = async (token: string, claimId: string) =>
  (await call("GET", `/v1/claims/${claimId}`, { token })).body as unknown as Claim;
const lineOf = async (id: string) =>
  (await call("GET", `/v1/claims?model=slide&id=${id}`)).body as unknown as ClaimList;
const claimOf = ({ body }: Answer) => body as unknown as Claim;
const until = async (what: () => Promise<boolean>, ms = 10_000) => {
  for (const end = Date.now() + ms; !(await what()); await new Promise((resolve) => setTimeout(resolve, 25)))
    if (Date.now() > end) throw new Error("It did not come about.");
};
/** Lets time pass for claims: what they wait for lies that much further back. */
const age = (ms: number, where: string) =>
  sql(
    `update holdfast.claim set expires_at = expires_at - make_interval(secs => ${ms / 1000}), granted_at = granted_at - make_interval(secs => ${ms / 1000}),
       seen_at = seen_at - make_interval(secs => ${ms / 1000}) where ${where}`,
  );

// Who still waited for somebody would close circles in the next test.
afterEach(() => sql("delete from holdfast.claim"));

const streams: TestStream[] = [];
afterAll(() => {
  for (const { socket } of streams) socket.terminate();
});
const hear = async (token: string, hello: object = {}, where = url) => {
  const stream = await follow(where, token, hello);
  streams.push(stream);
  return stream;
};

const [ann, bob, eve] = await Promise.all([agent("ann"), agent("bob"), agent("eve")]);

test("[A1] [A24] what is free is granted; asking again renews; a conflict fails, or waits in the line", async () => {
  await make("s1");
  const granted = await claim(ann, "s1", { description: "tidying up", meta: { job: 1 }, ttl: "30s" });
  expect(granted.status).toBe(201);
  expect(granted.body).toEqual({
    object: "claim",
    syncId: 1,
    id: expect.stringMatching(/^claim_[0-9A-Za-z]{24}$/),
    actor: "ann",
    participantKind: "agent",
    action: "edit",
    status: "active",
    fence: expect.any(Number),
    description: "tidying up",
    meta: { job: 1 },
    createdAt: expect.any(String),
    expiresAt: expect.any(String),
    expiresInMs: 30_000,
    target: { model: "slide", resource: "slide", id: "s1" },
  });
  const again = await claim(ann, "s1", { action: "translate" });
  expect(again.status).toBe(200);
  expect(again.body).toMatchObject({ id: granted.body.id, fence: granted.body.fence, action: "translate" });
  expect(again.body).toMatchObject({ description: "tidying up", meta: { job: 1 } });

  const refused = await claim(bob, "s1");
  expect([refused.status, refused.body.code]).toEqual([409, "claim_conflict"]);
  expect(refused.body.claims).toEqual([expect.objectContaining({ id: granted.body.id, actor: "ann" })]);

  const waits = await claim(bob, "s1", { queue: true });
  expect(waits.status).toBe(202);
  expect(waits.body).toMatchObject({ status: "queued", position: 0 });
  expect(waits.body).not.toHaveProperty("expiresAt");
  expect(waits.body).not.toHaveProperty("fence");
  const third = await claim(eve, "s1", { queue: true });
  expect(third.body).toMatchObject({ status: "queued", position: 1 });
  expect((await claim(bob, "s1", { queue: true })).body).toMatchObject({ id: waits.body.id, position: 0 });
  expect((await lineOf("s1")).data.map(({ actor }) => actor)).toEqual(["ann", "bob", "eve"]);

  // Fences grow with every grant on a record.
  await release(ann, String(granted.body.id));
  const next = await read(bob, String(waits.body.id));
  expect(next).toMatchObject({ status: "active", id: waits.body.id });
  expect(next.fence).toBeGreaterThan(Number(granted.body.fence));
});

test("[A1] the record may be named in the body; keys that are null are absent", async () => {
  await make("s2");
  const named = await call("POST", "/v1/claims", {
    token: ann,
    json: { target: { model: "Slide", id: "s2", field: null }, ttl: null, queue: null, meta: null },
  });
  expect(named.status).toBe(201);
  expect(named.body).toMatchObject({ target: { resource: "slide", id: "s2" }, expiresInMs: 60_000 });
  expect((await call("POST", `${slides}/s2/claim`, { token: ann })).status).toBe(200);
});

test.each([
  0,
  -1,
  "0s",
  "1e9",
  "30",
  " 30s",
  "30S",
  "5y",
  1e12,
  {},
  999,
  1000.5,
  "999ms",
  "61m",
  "3601s",
  true,
  [],
  "",
])("[A2] a ttl of %j is refused", async (ttl) => {
  await make("ttl");
  const { status, body } = await claim(ann, "ttl", { ttl });
  expect([status, body.code, body.param]).toEqual([400, "invalid_ttl", "ttl"]);
  expect((await lineOf("ttl")).data).toEqual([]);
});

test("[A2] a renewal sets the end anew, also to an earlier one, and ends after a day", async () => {
  await make("s3");
  const first = claimOf(await claim(ann, "s3", { ttl: "1h" }));
  const shorter = await call("POST", `/v1/claims/${first.id}/renew`, { token: ann, json: { ttl: 2_000 } });
  expect(shorter.body).toMatchObject({ id: first.id, fence: first.fence, expiresInMs: 2_000 });
  // Without a ttl: what it was last asked with.
  const same = await call("POST", `/v1/claims/${first.id}/renew`, { token: ann });
  expect(same.body).toMatchObject({ expiresInMs: 2_000 });
  await sql("update holdfast.claim set granted_at = granted_at - interval '23 hours 59 minutes' where id = $1", [
    first.id,
  ]);
  const last = claimOf(await call("POST", `/v1/claims/${first.id}/renew`, { token: ann, json: { ttl: "1h" } }));
  expect(last.expiresInMs).toBeLessThanOrEqual(60_000);
});

test("[A26] a participant lists what it holds and waits for, on every record and device, and nothing of others", async () => {
  await Promise.all(["m1", "m2", "m3", "m4"].map((id) => make(id)));
  const first = claimOf(await claim(ann, "m1", { clientId: "c1" }));
  const second = claimOf(await claim(ann, "m2", { clientId: "c2", field: "title" }));
  await claim(bob, "m3");
  const third = claimOf(await claim(ann, "m3", { queue: true }));
  const over = claimOf(await claim(ann, "m4", { ttl: "1s" }));
  await age(2_000, `id = '${over.id}'`);
  const list = (query = "", token = ann) => call("GET", `/v1/claims/mine${query}`, { token });
  const all = (await list()).body;
  expect(all).toMatchObject({ object: "list", has_more: false, next_cursor: null });
  const byId = (claims: Claim[]) => [...claims].sort((a, b) => (a.id < b.id ? -1 : 1));
  expect(all.data).toMatchObject(
    byId([
      { ...first, clientId: "c1", expiresInMs: expect.any(Number) },
      { ...second, clientId: "c2", expiresInMs: expect.any(Number) },
      { ...third, status: "queued", position: 0 },
    ]),
  );
  expect((await list("", eve)).body.data).toEqual([]);
  expect((await list("", bob)).body.data).toMatchObject([{ actor: "bob", target: { id: "m3" } }]);
  // Page by page it is the same.
  const paged: Claim[] = [];
  for (let cursor: unknown = ""; cursor !== null; ) {
    const { body } = await list(`?limit=1${cursor ? `&starting_after=${cursor}` : ""}`);
    paged.push(...(body.data as Claim[]));
    cursor = body.next_cursor;
  }
  expect(paged.map(({ id }) => id)).toEqual((all.data as Claim[]).map(({ id }) => id));
  // Others see the claim without its device.
  expect((await lineOf("m1")).claims[0]).not.toHaveProperty("clientId");
});

test("[A3] [A11] fields are claimed beside each other; the whole record conflicts with each", async () => {
  await make("s4");
  expect((await claim(ann, "s4", { field: "title" })).status).toBe(201);
  expect((await claim(bob, "s4", { field: "notes" })).status).toBe(201);
  expect((await claim(eve, "s4", { field: "title" })).body.code).toBe("claim_conflict");
  expect((await claim(eve, "s4")).body.claims).toHaveLength(2);
  expect((await claim(eve, "s4", { field: "nothing" })).body).toMatchObject({ code: "unknown_column", param: "field" });

  expect((await write(ann, "s4", { title: "mine" })).status).toBe(200);
  expect((await write(ann, "s4", { title: "x", notes: "y" })).body.code).toBe("claim_conflict");
  expect((await write(eve, "s4", { order: 3 })).status).toBe(200);
  expect((await call("POST", `${slides}/s4/archive`, { token: ann })).body.code).toBe("claim_conflict");
  expect((await call("DELETE", `${slides}/s4`)).body).toMatchObject({ code: "claim_conflict", claims: [{}, {}] });
  // A second claim of one's own does not stand in one's own way.
  expect((await claim(ann, "s4", { field: "order" })).status).toBe(201);
});

test("[A1] workers of one participant exclude each other by their clientId; each renews its own, and all may write", async () => {
  await make("s26");
  const one = claimOf(await claim(ann, "s26", { clientId: "one" }));
  const again = await claim(ann, "s26", { clientId: "one" });
  expect([again.status, again.body.id]).toEqual([200, one.id]);
  expect((await claim(ann, "s26", { clientId: "two" })).body).toMatchObject({
    code: "claim_conflict",
    claims: [{ id: one.id }],
  });
  expect((await claim(ann, "s26")).status).toBe(409);
  const two = await claim(ann, "s26", { clientId: "two", queue: true });
  expect([two.status, two.body.position]).toEqual([202, 0]);
  expect((await claim(ann, "s26", { clientId: "two", queue: true })).body.id).toBe(two.body.id);
  expect((await write(ann, "s26", { title: "by two" }, { clientId: "two" })).status).toBe(200);
  await release(ann, one.id);
  expect((await read(ann, String(two.body.id))).status).toBe("active");
  expect((await call("DELETE", `${slides}/s26/claim?client_id=one`, { token: ann })).body.released).toBe(0);
  expect((await call("DELETE", `${slides}/s26/claim?client_id=a%20b`, { token: ann })).body.code).toBe("invalid_value");
  expect((await read(ann, String(two.body.id))).status).toBe("active");
  // A circle of workers is one too.
  await make("s27");
  await claim(ann, "s27", { clientId: "one" });
  expect((await claim(ann, "s26", { clientId: "one", queue: true })).status).toBe(202);
  expect((await claim(ann, "s27", { clientId: "two", queue: true })).body.code).toBe("claim_deadlock");
});

test("[A4] claiming takes update and a group in common; what cannot be seen is not there", async () => {
  await make("s5", { deckId: "d5" });
  const reader = await agent("reader", ["slide.read"]);
  const { status, body } = await claim(reader, "s5");
  expect([status, body.code]).toEqual([403, "capability_scope_denied"]);
  expect(body.requiredCapability).toMatchObject({ can: "update", model: "slide", scope: "slide.update" });
  const stranger = await agent("stranger", ["slide.*"], ["deck:other"]);
  expect(await claim(stranger, "s5")).toMatchObject({ status: 404, body: { code: "record_not_found", param: "id" } });
  expect(await claim(ann, "never")).toMatchObject({ status: 404, body: { code: "record_not_found" } });
  expect(await call("POST", "/v1/models/nothing/x/claim", { json: {} })).toMatchObject({ status: 404 });
  expect(await claim(keys.other, "s5")).toMatchObject({ status: 404, body: { code: "record_not_found" } });
  expect(await call("POST", `${slides}/a%20b/claim`, { json: {} })).toMatchObject({ body: { code: "invalid_id" } });
  const held = claimOf(await claim(ann, "s5"));
  for (const path of [`/v1/claims/${held.id}`, "/v1/claims?model=slide&id=s5"])
    expect((await call("GET", path, { token: stranger })).status).toBe(404);
});

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
    // In time nobody but the holder gets a word in.
    expect((await write(tokens[(i + 1) % 50]!, "line")).body.code).toBe("claim_conflict");
    expect((await write(token, "line", { order: i }, { claim: waiting[i]!.id })).status).toBe(200);
    expect((await release(token, waiting[i]!.id)).body).toMatchObject({ released: 1 });
  }
  expect((await lineOf("line")).data).toEqual([]);
});

test("[A5] whoever comes later does not overtake a waiter for more", async () => {
  await make("s6");
  const part = claimOf(await claim(ann, "s6", { field: "title" }));
  const whole = claimOf(await claim(bob, "s6", { queue: true }));
  // The field is free, but its claim would make the one before wait longer.
  expect((await claim(eve, "s6", { field: "notes" })).body.code).toBe("claim_conflict");
  const late = claimOf(await claim(eve, "s6", { field: "notes", queue: true }));
  expect(late.position).toBe(1);
  await release(ann, part.id);
  expect([(await read(bob, whole.id)).status, (await read(eve, late.id)).status]).toEqual(["active", "queued"]);
  await release(bob, whole.id);
  expect((await read(eve, late.id)).status).toBe("active");
});

test("[A5] a lease that is over goes to the next one by itself", async () => {
  await make("s7");
  const first = claimOf(await claim(ann, "s7", { ttl: "1s" }));
  const next = claimOf(await claim(bob, "s7", { queue: true, ttl: "20s" }));
  const { body } = await call("GET", `/v1/claims/${next.id}?wait=10000`, { token: bob });
  expect(body).toMatchObject({ status: "active" });
  expect(Number(body.expiresInMs)).toBeGreaterThan(15_000);
  expect((await read(ann, first.id)).status).toBe("expired");
  expect(await write(ann, "s7", { title: "late" }, { claim: first.id })).toMatchObject({
    status: 409,
    body: { code: "claim_lost", claims: [{ actor: "bob" }], receipt: { status: "rejected" } },
  });
  expect((await write(bob, "s7", { title: "in time" }, { claim: next.id })).status).toBe(200);
});

test("[A6] a silent waiter is passed over, keeps its place, and goes after five minutes", async () => {
  await make("s8");
  const first = claimOf(await claim(ann, "s8"));
  const silent = claimOf(await claim(bob, "s8", { queue: true }));
  const alive = claimOf(await claim(eve, "s8", { queue: true }));
  await age(31_000, `id = '${silent.id}'`);
  await release(ann, first.id);
  expect((await read(eve, alive.id)).status).toBe("active");
  expect((await lineOf("s8")).queue).toMatchObject([{ id: silent.id, position: 0 }]);
  // It shows life again, and is next.
  expect(await read(bob, silent.id)).toMatchObject({ status: "queued", position: 0 });
  await release(eve, alive.id);
  expect((await read(bob, silent.id)).status).toBe("active");

  await claim(ann, "s8", { queue: true });
  const gone = claimOf(await claim(eve, "s8", { queue: true }));
  await age(301_000, `id = '${gone.id}'`);
  await until(async () => (await lineOf("s8")).queue.every(({ id }) => id !== gone.id));
  expect(claimOf(await call("GET", `/v1/claims/${gone.id}`)).status).toBe("canceled");
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
    // Nobody is kept out by somebody silent, but whoever is in the line comes first once it is heard of.
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

test("[A7] at promotion a waiter is judged again: a record that left its groups, or a revoked token, is not granted", async () => {
  await make("s10", { deckId: "d1" });
  const narrow = await agent("narrow", ["slide.*"], ["deck:d1"]);
  const revoked = (await call("POST", "/v1/capabilities", { json: { wideScope: true, participantId: "revoked" } }))
    .body;
  const holder = claimOf(await claim(ann, "s10"));
  const moved = claimOf(await claim(narrow, "s10", { queue: true }));
  const ended = claimOf(await claim(String(revoked.token), "s10", { queue: true }));
  const last = claimOf(await claim(bob, "s10", { queue: true }));
  await write(ann, "s10", { deckId: "d2" });
  await call("DELETE", `/v1/capabilities/${revoked.id}`);
  await release(ann, holder.id);
  expect((await read(bob, last.id)).status).toBe("active");
  expect([(await read(keys.live, moved.id)).status, (await read(keys.live, ended.id)).status]).toEqual([
    "canceled",
    "canceled",
  ]);
});

test("[A8] the 101st waiter is turned away", async () => {
  await make("full");
  await claim(ann, "full");
  await sql(
    `insert into holdfast.claim (tenant, id, model, record, status, participant, token, action, ttl_ms, place, change, created_at, seen_at)
     select tenant, 'claim_made' || i, model, record, 'queued', 'agent:made' || i, token, 'edit', 60000, 100 + i, 0, clock_timestamp(), clock_timestamp()
     from holdfast.claim, generate_series(1, 100) i where record = 'full'`,
  );
  expect(await claim(bob, "full", { queue: true })).toMatchObject({
    status: 429,
    body: { code: "claim_queue_full", type: "claim_error" },
  });
});

test("[A8] a circle of waiters is refused, over several records and behind others in a line", async () => {
  for (const id of ["c1", "c2", "c3"]) await make(id);
  await claim(ann, "c1");
  await claim(bob, "c2");
  await claim(eve, "c3");
  expect((await claim(ann, "c2", { queue: true })).status).toBe(202);
  expect((await claim(bob, "c3", { queue: true })).status).toBe(202);
  const circle = await claim(eve, "c1", { queue: true });
  expect([circle.status, circle.body.code]).toEqual([409, "claim_deadlock"]);
  // Who only waits is in the way too.
  await make("c4");
  const dan = await agent("dan");
  await claim(dan, "c4");
  expect((await claim(ann, "c4", { queue: true })).status).toBe(202);
  await make("c5");
  const fay = await agent("fay");
  await claim(fay, "c5");
  expect((await claim(fay, "c4", { queue: true })).body.position).toBe(1);
  expect((await claim(ann, "c5", { queue: true })).body.code).toBe("claim_deadlock");
});

test("[A8] an order of the line that would close a circle is refused", async () => {
  for (const id of ["o1", "o2"]) await make(id);
  await claim(ann, "o1");
  await claim(bob, "o2");
  const [dan, fay] = [await agent("dan2"), await agent("fay2")];
  const waiting: string[] = [];
  for (const id of ["o1", "o2"])
    for (const who of [dan, fay]) waiting.push(String((await claim(who, id, { queue: true })).body.id));
  const reorder = (order: unknown[]) =>
    call("POST", `${slides}/o2/claim/reorder`, { token: keys.live, json: { order } });
  const [, , danOn, fayOn] = waiting;
  const circle = await reorder([fayOn, danOn]);
  expect([circle.status, circle.body.code]).toEqual([409, "claim_deadlock"]);
  expect((await reorder([danOn, fayOn])).status).toBe(200);
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

test("[A9] releasing is idempotent, by claim or by record; a stranger's is not one's own to release", async () => {
  await make("s11");
  const held = claimOf(await claim(ann, "s11"));
  const waits = claimOf(await claim(bob, "s11", { queue: true }));
  expect(await release(bob, held.id)).toMatchObject({ status: 403, body: { code: "not_claim_holder" } });
  expect(await call("POST", `/v1/claims/${held.id}/renew`, { token: bob })).toMatchObject({ status: 403 });
  expect((await release(bob, waits.id)).body).toEqual({ object: "claim_release", released: 1 });
  expect((await read(bob, waits.id)).status).toBe("canceled");
  expect((await release(bob, waits.id)).body).toEqual({ object: "claim_release", released: 0 });
  expect((await call("DELETE", `${slides}/s11/claim`, { token: ann })).body.released).toBe(1);
  expect((await call("DELETE", `${slides}/s11/claim`, { token: ann })).body.released).toBe(0);
  expect((await read(ann, held.id)).status).toBe("released");
  expect(await release(ann, "claim_unknown")).toMatchObject({ status: 404, body: { code: "claim_not_found" } });
});

test("[A10] what has ended cannot be renewed; what waits only shows life", async () => {
  await make("s12");
  const held = claimOf(await claim(ann, "s12"));
  const waits = claimOf(await claim(bob, "s12", { queue: true }));
  expect((await call("POST", `/v1/claims/${waits.id}/renew`, { token: bob, json: {} })).body).toMatchObject({
    status: "queued",
    position: 0,
  });
  await release(ann, held.id);
  expect(await call("POST", `/v1/claims/${held.id}/renew`, { token: ann })).toMatchObject({
    status: 409,
    body: { code: "claim_lost", claims: [{ actor: "bob" }] },
  });
});

test("[A11] nobody writes past a claim, by whatever route; reads show it and never wait", async () => {
  await make("s13");
  const held = claimOf(await claim(ann, "s13"));
  const operation = { action: "update", model: "slide", id: "s13", data: { title: "x" } };
  const others: [string, string, Asking][] = [
    ["PATCH", `${slides}/s13`, { json: { data: { title: "x" }, onStale: "overwrite" } }],
    ["PATCH", `${slides}/s13`, { json: { data: { title: "x" }, readAt: 0, onStale: "notify" } }],
    ["DELETE", `${slides}/s13`, {}],
    ["POST", `${slides}/s13/archive`, {}],
    ["POST", "/v1/commits", { json: { operations: [operation] } }],
  ];
  for (const token of [keys.live, bob])
    for (const [method, path, asking] of others) {
      const { status, body } = await call(method, path, { ...asking, token });
      expect([status, body.code, (body.claims as Claim[]).map(({ id }) => id)]).toEqual([
        409,
        "claim_conflict",
        [held.id],
      ]);
      expect(body.receipt).toMatchObject({ status: "rejected", error: { code: "claim_conflict" } });
    }
  const bulk = await call("POST", "/v1/commits/bulk", {
    token: bob,
    json: { commits: [{ clientTxId: "bulk", operations: [operation] }] },
  });
  expect((bulk.body.data as object[])[0]).toMatchObject({
    code: "claim_conflict",
    claims: [{ id: held.id }],
    httpStatus: 409,
  });
  const batch = await call("POST", "/v1/commits", {
    token: bob,
    json: {
      operations: [
        { action: "create", model: "slide", id: "beside", data: {} },
        { ...operation, claim: held.id },
      ],
    },
  });
  expect(batch.body).toMatchObject({ code: "claim_lost", param: "operations[1].claim" });
  expect((await call("GET", `${slides}/beside`)).status).toBe(404);

  expect((await write(ann, "s13", { title: "own" })).status).toBe(200);
  const named = await write(ann, "s13", { title: "named" }, { claim: held.id });
  const { body: history } = await call("GET", `${slides}/s13/history?order=desc&limit=1`);
  expect([(history.data as LogEntry[])[0]?.claim, named.status]).toEqual([held.id, 200]);
  await make("s14");
  expect((await write(ann, "s14", { title: "elsewhere" }, { claim: held.id })).body.code).toBe("claim_lost");
  expect((await call("GET", `${slides}/s13`, { token: bob })).body.claims).toEqual([
    expect.objectContaining({ id: held.id, status: "active", actor: "ann" }),
  ]);
});

test("[A12] of a write and a claim that come at once, over two servers, the write is before the grant or refused", async () => {
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

test("[A13] people with claim.preempt take over from agents, past the line; nobody takes it from people", async () => {
  await make("s15");
  const [boss, plain] = [await person("boss", ["slide.*", "claim.preempt"]), await person("plain")];
  const held = claimOf(await claim(ann, "s15"));
  await claim(bob, "s15", { queue: true });
  const agentTries = await agent("pushy", ["slide.*", "claim.preempt"]);
  expect((await claim(agentTries, "s15", { preempt: true })).body.code).toBe("preempt_denied");
  expect((await claim(plain, "s15", { preempt: true })).body).toMatchObject({
    code: "capability_scope_denied",
    requiredCapability: { can: "preempt", model: "slide", scope: "claim.preempt" },
  });
  const taken = await claim(boss, "s15", { preempt: true });
  expect([taken.status, taken.body.status]).toEqual([201, "active"]);
  expect((await read(ann, held.id)).status).toBe("preempted");
  expect((await write(ann, "s15", { title: "x" }, { claim: held.id })).body.code).toBe("claim_lost");
  expect((await lineOf("s15")).queue).toMatchObject([{ actor: "bob", position: 0 }]);
  expect(await claim(keys.live, "s15", { preempt: true })).toMatchObject({
    status: 403,
    body: { code: "preempt_denied" },
  });
});

test("[A14] the line is reordered by who may; those not named stay behind", async () => {
  await make("s16");
  await claim(ann, "s16");
  const waiting = [];
  for (const name of ["q0", "q1", "q2", "q3"])
    waiting.push(claimOf(await claim(await agent(name), "s16", { queue: true })));
  const reorder = (order: unknown[], token = keys.live) =>
    call("POST", `${slides}/s16/claim/reorder`, { token, json: { order } });
  const { status, body } = await reorder([waiting[2]!.id, { claimId: waiting[0]!.id }]);
  expect(status).toBe(200);
  expect((body as unknown as ClaimList).queue.map(({ actor, position }) => [actor, position])).toEqual([
    ["q2", 0],
    ["q0", 1],
    ["q1", 2],
    ["q3", 3],
  ]);
  expect((await reorder([waiting[0]!.id], bob)).body).toMatchObject({ requiredCapability: { scope: "claim.reorder" } });
  expect((await reorder(["claim_x"])).body).toMatchObject({ code: "claim_not_found", param: "order[0]" });
  expect((await reorder([waiting[0]!.id, waiting[0]!.id])).body).toMatchObject({
    code: "invalid_value",
    param: "order[1]",
  });
  expect((await reorder([1])).status).toBe(400);
});

test("[A23] a write may carry its claim as claimId and the fence it was granted with; null is absence", async () => {
  await make("s22");
  const first = claimOf(await claim(ann, "s22"));
  expect(first.target).toEqual({ model: "slide", resource: "slide", id: "s22" });
  const commit = (fenceToken: unknown, claimId: unknown = first.id) =>
    call("POST", "/v1/commits", {
      token: ann,
      json: {
        operations: [
          { action: "update", model: "slide", id: "s22", data: { title: `${Math.random()}` }, claimId, fenceToken },
        ],
      },
    });
  expect((await commit(null)).status).toBe(200);
  expect((await commit(null, null)).status).toBe(200);
  expect((await commit(first.fence)).status).toBe(200);
  expect((await write(ann, "s22", { title: "patched" }, { fenceToken: first.fence })).status).toBe(200);
  expect((await commit((first.fence ?? 0) + 1)).body).toMatchObject({
    code: "claim_lost",
    param: "operations[0].fenceToken",
  });
  expect((await commit("1")).status).toBe(400);
  await release(ann, first.id);
  expect((await commit(first.fence, null)).body).toMatchObject({ code: "claim_lost" });
  expect((await commit(null)).body).toMatchObject({ code: "claim_lost", param: "operations[0].claim" });
  const [held, waits] = [claimOf(await claim(ann, "s22")), claimOf(await claim(bob, "s22", { queue: true }))];
  expect(held.fence).toBeGreaterThan(first.fence ?? 0);
  const order = [{ claimId: waits.id, heldBy: "eve" }];
  const reordered = await call("POST", `${slides}/s22/claim/reorder`, {
    token: keys.live,
    json: { order, heldBy: null },
  });
  expect(reordered.status).toBe(200);
});

test("[A15] a claim ends with its record, and with its token's revocation, not with its rotation", async () => {
  await make("s17");
  const held = claimOf(await claim(ann, "s17"));
  const waits = claimOf(await claim(bob, "s17", { queue: true }));
  const before = Number((await call("GET", "/v1/log?limit=1")).body.stamp);
  expect((await call("DELETE", `${slides}/s17`, { token: ann, json: { claim: held.id } })).status).toBe(200);
  expect([(await read(ann, held.id)).status, (await read(bob, waits.id)).status]).toEqual(["canceled", "canceled"]);
  expect(Number((await call("GET", "/v1/log?limit=1")).body.stamp)).toBe(before + 1);

  await make("s18");
  const { body: token } = await call("POST", "/v1/capabilities", {
    json: { wideScope: true, participantId: "worker" },
  });
  const kept = claimOf(await claim(String(token.token), "s18", { ttl: "10m" }));
  const { body: rotated } = await call("POST", `/v1/capabilities/${token.id}/rotate`);
  expect((await claim(bob, "s18")).status).toBe(409);
  // Under the new token it is the same participant's.
  const renewed = await call("POST", `/v1/claims/${kept.id}/renew`, { token: String(rotated.token) });
  expect(renewed.status).toBe(200);
  expect((await claim(String(rotated.token), "s18")).status).toBe(200);
  const next = claimOf(await claim(bob, "s18", { queue: true }));
  await call("DELETE", `/v1/capabilities/${rotated.id}`);
  expect((await write(keys.live, "s18")).status).toBe(200);
  await until(async () => (await read(bob, next.id)).status === "active");
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

test("[A16] a poll answers when its claim moves, on another server too, and when its time is over", async () => {
  await make("s20");
  const held = claimOf(await claim(ann, "s20"));
  const next = claimOf(await claim(bob, "s20", { queue: true }));
  const behind = claimOf(await claim(eve, "s20", { queue: true }));
  const poll = (id: string, wait: number, token: string, where = second.call) =>
    where("GET", `/v1/claims/${id}?wait=${wait}`, { token });
  const began = performance.now();
  expect((await poll(behind.id, 300, eve)).body).toMatchObject({ status: "queued", position: 1 });
  expect(performance.now() - began).toBeGreaterThan(290);
  const polls = Promise.all([poll(next.id, 20_000, bob), poll(behind.id, 20_000, eve), poll(held.id, 20_000, ann)]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await release(ann, held.id);
  const [granted, moved, active] = await polls;
  expect(granted.body).toMatchObject({ status: "active" });
  expect(moved.body).toMatchObject({ status: "queued", position: 0 });
  expect(active.body).toMatchObject({ id: held.id });
  expect(performance.now() - began).toBeLessThan(10_000);
  expect((await call("GET", `/v1/claims/${held.id}?wait=x`)).status).toBe(400);
});

test("[A17] whoever watches hears the whole state at once and after each change; each hears of its own, on another server too", async () => {
  await make("s21");
  await make("s22");
  const watcher = await hear(keys.live, {}, second.server.url);
  const own = await hear(bob, {}, second.server.url);
  watcher.send({ frame: "watch", model: "Slide", ids: ["s21", "s22", "missing"] });
  expect(await watcher.next("claims")).toEqual({ frame: "claims", model: "slide", id: "s21", claims: [], queue: [] });
  expect(await watcher.next("claims")).toMatchObject({ id: "s22", claims: [] });
  const held = claimOf(await claim(ann, "s21"));
  expect(await watcher.next("claims")).toMatchObject({ id: "s21", claims: [{ id: held.id, actor: "ann" }], queue: [] });
  const waits = claimOf(await claim(bob, "s21", { queue: true }));
  expect(await own.next("claim")).toMatchObject({ claim: { id: waits.id, status: "queued", position: 0 } });
  expect(await watcher.next("claims")).toMatchObject({ queue: [{ id: waits.id, position: 0 }] });
  await release(ann, held.id);
  expect(await own.next("claim")).toMatchObject({ claim: { id: waits.id, status: "active" } });
  expect(await watcher.next("claims")).toMatchObject({ claims: [{ id: waits.id }], queue: [] });
  // It is replaced as a whole: what is no longer watched is no longer told.
  watcher.send({ frame: "watch", model: "slide", ids: ["s22"] });
  watcher.send({ frame: "ping", n: 1 });
  await watcher.next("pong");
  await release(bob, waits.id);
  expect(await own.next("claim")).toMatchObject({ claim: { id: waits.id, status: "released" } });
  await claim(eve, "s22");
  expect(await watcher.next("claims")).toMatchObject({ id: "s22", claims: [{ actor: "eve" }] });
});

test("[A17] whoever moves up in the line hears its new position", async () => {
  await make("s23");
  const held = claimOf(await claim(ann, "s23"));
  const next = claimOf(await claim(bob, "s23", { queue: true }));
  const behind = claimOf(await claim(eve, "s23", { queue: true }));
  const own = await hear(eve);
  await release(bob, next.id);
  // What came before it listened, and what became of her other claims, may still be on its way.
  const news = async () => {
    for (;;) {
      const { claim: told } = await own.next("claim");
      if (told.id === behind.id && told.position !== 1) return told;
    }
  };
  expect(await news()).toMatchObject({ status: "queued", position: 0 });
  await release(ann, held.id);
  expect(await news()).toMatchObject({ status: "active" });
});

test("[A17] what lies outside the scope is not told: a model is refused, a record is not there", async () => {
  await make("s24", { deckId: "secret" });
  const narrow = await agent("narrow2", ["slide.*"], ["deck:mine"]);
  const blind = await hear(narrow);
  blind.send({ frame: "watch", model: "slide", ids: ["s24"] });
  blind.send({ frame: "ping", n: 1 });
  await blind.next("pong");
  await claim(ann, "s24");
  blind.send({ frame: "ping", n: 2 });
  await blind.next("pong");
  expect(blind.frames.filter(({ frame }) => frame === "claims")).toEqual([]);
  blind.send({ frame: "watch", model: "document", ids: ["d"] });
  expect(await blind.next("error")).toMatchObject({ requiredCapability: { can: "read", model: "document" } });
  expect((await blind.closed).code).toBe(4403);
});

test("what claims say in words is given back as it came, and bounded", async () => {
  await make("s25");
  const said = { action: "überarbeiten", description: "x".repeat(1_000), meta: { z: 1, a: ["✓"] } };
  expect(claimOf(await claim(ann, "s25", said))).toMatchObject(said);
  for (const [json, code] of [
    [{ description: "x".repeat(1_001) }, "invalid_value"],
    [{ action: "" }, "invalid_value"],
    [{ action: "a\u0000b" }, "invalid_value"],
    [{ description: "\ud800" }, "invalid_value"],
    [{ meta: { a: "x".repeat(4_096) } }, "invalid_value"],
    [{ meta: { "\u0000": 1 } }, "invalid_value"],
    [{ meta: [] }, "invalid_type"],
    [{ clientId: "a b" }, "invalid_value"],
    [{ queue: "yes" }, "invalid_type"],
    [{ colour: 1 }, "unknown_field"],
  ] as const)
    expect([(await claim(ann, "s25", json)).body.code, json]).toEqual([code, json]);
});

test("[A22] a participant has up to 1 000 claims: the next is 429, and one that it releases makes room", {
  timeout: 60_000,
}, async () => {
  const fresh = await startApp();
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
  expect([(await next()).status, (await next()).body.code]).toEqual([429, "too_many_claims"]);
  expect((await fresh.call("DELETE", `/v1/claims/${first.body.id}`)).status).toBe(200);
  expect((await next()).status).toBe(201);
});
