import { expect, test, vi } from "vitest";
import type { Claim } from "../../protocol/claims/claim.ts";
import { startClient } from "../../testing/start-client.ts";
import { createTestServer, type TestClientOptions } from "../../testing/test-server.ts";
// Loaded lazily by the client; import it here so that no test has to wait for it.
import "./collab.ts";

const schema = {
  models: { slide: { fields: { title: { type: "string" }, order: { type: "number", default: 0 } } } },
} as const;

async function start(options: TestClientOptions = {}) {
  const made = await startClient(schema, options);
  const { client } = made;
  await client.models.slide.create({ title: "One" }, { id: "s1" }).receipt;
  await made.settle();
  const ben = (body: object = {}) => made.server.claims.acquire("ben", "slide", "s1", body).body as Claim;
  const requested = () => made.connection.requests.map(({ name }) => name);
  const wait = async (ms: number) => {
    for (let left = ms; left > 0; left -= 1_000) {
      made.clock.advance(Math.min(left, 1_000));
      made.server.claims.sweep();
      await made.settle();
    }
  };
  return { ...made, slides: client.models.slide, ben, requested, wait };
}

test("[U1] a claim resolves with the lease, and no other participant gets it until it is released", async () => {
  const { slides, server, settle, ben } = await start();
  {
    await using lease = await slides.claim("s1", { ttl: "30s", description: "Rewriting", meta: { run: 7 } });
    expect(lease).toMatchObject({ id: "clm_1", model: "slide", recordId: "s1", field: undefined, fence: 1 });
    expect(lease.remainingMs()).toBe(27_000);
    expect(server.claims.of("slide", "s1").claims).toMatchObject([
      { actor: "ann", description: "Rewriting", meta: { run: 7 } },
    ]);
    expect(ben()).toMatchObject({ code: "claim_conflict" });
  }
  await settle();
  expect(server.claims.of("slide", "s1").claims).toEqual([]);
  expect(ben()).toMatchObject({ status: "active", fence: 2 });
});

test("[U1] a claim on a held record rejects and names the holder", async () => {
  const { slides, ben } = await start();
  ben({ description: "Mine" });
  await expect(slides.claim("s1")).rejects.toMatchObject({
    name: "SyncError",
    code: "claim_conflict",
    claims: [{ actor: "ben", description: "Mine" }],
  });
  await expect(slides.claim("s1", { ttl: "soon" })).rejects.toMatchObject({ code: "invalid_ttl" });
  await expect(slides.claim("s1", { ttl: 1e300, signal: AbortSignal.abort("no") })).rejects.toBe("no");
  await expect(slides.claim("a/b")).rejects.toMatchObject({ code: "invalid_id" });
});

test("[U1] claims on different fields coexist", async () => {
  const { slides, server } = await start();
  server.claims.acquire("ben", "slide", "s1", { field: "title" });
  const lease = await slides.claim("s1", { field: "order" });
  expect(lease.field).toBe("order");
  await expect(slides.claim("s1", { field: "title" })).rejects.toMatchObject({ code: "claim_conflict" });
});

test("[U6] with a stream, a waiter learns its position and gets the lease without another request", async () => {
  const { slides, server, settle, ben, requested } = await start();
  const first = ben();
  server.claims.acquire("cem", "slide", "s1", { queue: true });
  const positions: number[] = [];
  const claim = slides.claim("s1", { queue: true, onPosition: (position) => positions.push(position) });
  await settle();
  server.claims.release("ben", first.id);
  await settle();
  const [second] = server.claims.of("slide", "s1").claims;
  server.claims.release("cem", second?.id ?? "");
  await settle();
  expect(await claim).toMatchObject({ fence: 3 });
  expect(positions).toEqual([1, 0]);
  expect(requested()).toEqual(["acquireClaim"]);
});

test("[U6] without a stream a waiter polls, and a late response grants nothing by itself", async () => {
  const { slides, server, settle, clock, ben, requested, connection } = await start({ stream: false });
  expect(connection.asked.socket).toBe(0);
  const first = ben();
  const claim = slides.claim("s1", { queue: true, ttl: "8s" });
  await settle();
  expect(requested()).toEqual(["acquireClaim", "readClaim"]);
  expect(connection.requests[1]?.asked).toMatchObject({ query: { wait: "25000" }, timeoutMs: 35_000 });
  clock.advance(9_000);
  await settle();
  server.claims.release("ben", first.id);
  await settle();
  const lease = await claim;
  expect(requested()).toEqual(["acquireClaim", "readClaim", "renewClaim"]);
  expect(lease.remainingMs()).toBe(7_200);
});

test("[U6] a waiter polls when the socket is lost, and requests its position when the socket is back", async () => {
  const { slides, settle, ben, requested, connection, clock } = await start();
  ben();
  void slides.claim("s1", { queue: true }).catch(() => {});
  await settle();
  connection.socketUp = false;
  connection.cut?.();
  await settle();
  expect(requested().at(-1)).toBe("readClaim");
  connection.socketUp = true;
  clock.advance(5_000);
  await settle();
  expect(requested().at(-1)).toBe("renewClaim");
});

test("[U6] aborting leaves the claim queue", async () => {
  const { slides, server, settle, ben } = await start();
  ben();
  const leaving = new AbortController();
  const claim = slides.claim("s1", { queue: true, signal: leaving.signal });
  await settle();
  expect(server.claims.of("slide", "s1").queue).toHaveLength(1);
  leaving.abort(new Error("changed my mind"));
  await expect(claim).rejects.toThrow("changed my mind");
  await settle();
  expect(server.claims.of("slide", "s1").queue).toEqual([]);
});

test("[U3] a lease is renewed while it is held, and an unanswered request is sent again", async () => {
  const { slides, server, connection, wait, requested } = await start();
  connection.replies.push("lost");
  const claim = slides.claim("s1", { ttl: "15s" });
  await wait(2_000);
  const lease = await claim;
  expect(lease.id).toBe("clm_1");
  expect(requested()).toEqual(["acquireClaim", "acquireClaim"]);
  await wait(60_000);
  expect(lease.remainingMs()).toBeGreaterThan(8_000);
  expect(server.claims.of("slide", "s1").claims.map((claim) => claim.id)).toEqual([lease.id]);
  expect(requested().filter((name) => name === "renewClaim").length).toBeGreaterThan(10);
});

test("[U4] a lost lease aborts its signal at once, with the reason", async () => {
  const { slides, server, settle } = await start();
  const lease = await slides.claim("s1");
  expect(lease.signal.aborted).toBe(false);
  server.claims.end(lease.id, "preempted");
  await settle();
  expect(lease.signal.reason).toMatchObject({ name: "SyncError", code: "claim_lost", reason: "preempted" });
  expect(await lease.lost).toBe(lease.signal.reason);
  expect(lease.remainingMs()).toBe(0);
  await lease.release();
});

test("[U4] without a connection the lease ends a tenth before the server's expiry", async () => {
  const { slides, server, connection, settle, clock } = await start();
  const lease = await slides.claim("s1", { ttl: "10s" });
  connection.up = false;
  connection.cut?.();
  clock.advance(8_999);
  await settle();
  expect(lease.signal.aborted).toBe(false);
  clock.advance(1);
  await settle();
  expect(lease.signal.reason).toMatchObject({ reason: "deadline" });
  server.claims.sweep();
  expect(server.claims.of("slide", "s1").claims).toHaveLength(1);
});

test.each([1, 2, 3, 4, 5, 6])(
  "[U4] a lease ends even if its deadline passes during other work that starts %d ms before it",
  async (early) => {
    const own = createTestServer(schema);
    let isBusy = false;
    let spent = 0;
    // During work, a millisecond passes between two reads of the clock.
    const clock = { ...own.clock, monotonic: () => own.clock.monotonic() + (isBusy ? ++spent : spent) };
    const { client, signals } = own.client({ platform: { clock } });
    await client.models.slide.create({ title: "One" }, { id: "s1" }).receipt;
    const lease = await client.models.slide.claim("s1", { ttl: "10s" });
    client.pause();
    own.clock.advance(9_000 - early);
    isBusy = true;
    signals.woke();
    isBusy = false;
    own.clock.advance(1_000);
    await own.settle();
    expect(lease.signal.reason).toMatchObject({ reason: "deadline" });
  },
);

test("[U5] after sleep no claim is relied on before the server has confirmed it", async () => {
  const { slides, server, settle, clock, signals, ben } = await start();
  const lease = await slides.claim("s1");
  clock.sleep(3_600_000);
  expect(lease.remainingMs()).toBe(0);
  server.claims.end(lease.id, "expired");
  ben();
  signals.woke();
  await settle();
  expect(lease.signal.reason).toMatchObject({ code: "claim_lost" });
});

test("[U8] [U21] closing the client releases its claims, leaves claim queues, and leaves no timers", async () => {
  const { client, slides, server, clock, settle } = await start();
  server.claims.acquire("ben", "slide", "s2");
  const lease = await slides.claim("s1");
  const waiting = slides.claim("s2", { queue: true });
  const outcome = expect(waiting).rejects.toMatchObject({ code: "client_closed" });
  await settle();
  await client.close();
  await outcome;
  expect(server.claims.of("slide", "s1").claims).toEqual([]);
  expect(server.claims.of("slide", "s2").queue).toEqual([]);
  expect(lease.signal.reason).toMatchObject({ reason: "closed" });
  expect(clock.waiting).toBe(0);
  await expect(slides.claim("s1")).rejects.toMatchObject({ code: "client_closed" });
});

test("[U8] [U21] a server that does not answer delays closing by at most 2 s", async () => {
  const { client, slides, connection, clock, settle } = await start();
  await slides.claim("s1");
  connection.replies.push("held back");
  let isClosed = false;
  void client.close().then(() => {
    isClosed = true;
  });
  clock.advance(1_999);
  await settle();
  expect(isClosed).toBe(false);
  clock.advance(1);
  await settle();
  expect(isClosed).toBe(true);
  expect(clock.waiting).toBe(0);
});

test("[U8] [U22] a page that is hidden releases its claims with a keepalive request", async () => {
  const { slides, server, signals, settle, connection } = await start();
  const lease = await slides.claim("s1");
  signals.hidden();
  await settle();
  expect(connection.requests.at(-1)).toMatchObject({ name: "releaseClaim", asked: { keepalive: true } });
  expect(server.claims.of("slide", "s1").claims).toEqual([]);
  expect(lease.signal.reason).toMatchObject({ reason: "hidden" });
});

test("[U8] [U22] a hidden page requests its claims when it is shown again", async () => {
  const { slides, server, signals, settle, connection, clock } = await start();
  const lease = await slides.claim("s1");
  const again = lease.lost.then(() => slides.claim("s1"));
  signals.hidden();
  await settle();
  clock.advance(60_000);
  await settle();
  expect(connection.requests.at(-1)).toMatchObject({ name: "releaseClaim" });
  expect(server.claims.of("slide", "s1").claims).toEqual([]);
  signals.woke();
  await expect(again).resolves.toMatchObject({ fence: 2 });
});

test("[U9] writes under a lease name its claim, in a commit only operations on its record", async () => {
  const { client, slides, connection, settle } = await start();
  await using lease = await slides.claim("s1");
  slides.create({ title: "Two" }, { id: "s2" });
  await settle();
  lease.update({ title: "Mine" });
  slides.update("s1", { order: 1 }, { claim: lease });
  client.commit(
    [
      { action: "update", model: "slide", id: "s1", data: { order: 2 } },
      { action: "update", model: "slide", id: "s2", data: { order: 3 } },
    ],
    { claim: lease },
  );
  await settle();
  const sent = connection.sent
    .slice(2)
    .flatMap((body) => JSON.parse(body).commits as { operations: { claim?: string }[] }[]);
  expect(sent.map((commit) => commit.operations.map((o) => o.claim))).toEqual([
    ["clm_1"],
    ["clm_1"],
    ["clm_1", undefined],
  ]);
  expect(() => slides.update("s2", { order: 4 }, { claim: lease })).toThrowError(/not on a record of this write/);
});

test("[U11] the claims of a watched record match the server's, and are unknown without a connection", async () => {
  const { client, slides, server, settle, ben, connection, clock } = await start();
  expect(client.claims.of("slide", "s1")).toMatchObject({ state: "unknown", why: "not-watched" });
  const stop = client.claims.watch("slide", ["s1"]);
  await settle();
  clock.advance(20);
  await settle();
  const before = client.claims.of("slide", "s1");
  expect(before).toEqual({ state: "known", holders: [], queue: [] });
  expect(client.claims.of("slide", "s1")).toBe(before);
  let notified = 0;
  client.subscribe(() => {
    notified += 1;
  });
  const first = ben();
  expect(notified).toBeGreaterThan(0);
  void slides.claim("s1", { queue: true }).catch(() => {});
  await settle();
  expect(client.claims.of("slide", "s1")).toMatchObject({
    state: "known",
    holders: [{ actor: "ben", isMine: false }],
    queue: [{ actor: "ann", isMine: true, position: 0 }],
  });
  connection.up = false;
  connection.cut?.();
  server.claims.release("ben", first.id);
  expect(client.claims.of("slide", "s1")).toEqual({ state: "unknown", why: "connection", holders: [], queue: [] });
  connection.up = true;
  clock.advance(5_000);
  await settle();
  await settle();
  expect(client.claims.of("slide", "s1")).toMatchObject({ state: "known", holders: [{ actor: "ann", isMine: true }] });
  stop();
  clock.advance(1_000);
  expect(connection.frames.at(-1)).toEqual({ frame: "watch", model: "slide", ids: [] });
});

test("[U11] several watchers share a record, ids are sent together, and beyond the limit the latest are watched", async () => {
  const { client, settle, connection, clock } = await start();
  const stops = [client.claims.watch("slide", ["s1", "s2"]), client.claims.watch("slide", ["s2", "s3"])];
  await settle();
  clock.advance(20);
  expect(connection.frames).toEqual([{ frame: "watch", model: "slide", ids: ["s1", "s2", "s3"] }]);
  stops[0]?.();
  clock.advance(1_000);
  expect(connection.frames.at(-1)).toEqual({ frame: "watch", model: "slide", ids: ["s2", "s3"] });
  const many = Array.from({ length: 500 }, (_, i) => `m${i}`);
  client.claims.watch("slide", many);
  clock.advance(20);
  expect(connection.frames.at(-1)).toEqual({ frame: "watch", model: "slide", ids: many });
  expect(client.claims.of("slide", "s2")).toMatchObject({ state: "unknown", why: "too-many" });
  expect(client.claims.of("slide", "m499")).toMatchObject({ state: "known" });
});

test("[U11] a model that the token may not read is not requested again, and the connection continues without it", async () => {
  const { client, settle, connection, clock } = await start();
  connection.forbidden.add("slide");
  client.claims.watch("slide", ["s1"]);
  for (let i = 0; i < 10; i++) {
    await settle();
    clock.advance(2_000);
  }
  await settle();
  expect(connection.asked.socket).toBe(2);
  expect(client.status().name).toBe("online");
  expect(client.claims.of("slide", "s1")).toMatchObject({ state: "unknown", why: "denied" });
  expect(() => client.claims.watch("slyde" as never, ["s1"])).toThrowError(/no model "slyde"/);
});

test("[U15] code for claims and presence that cannot be loaded is logged and retried, and everything else works", async () => {
  let loads = 0;
  const collab = () => (++loads < 3 ? Promise.reject(new TypeError("Failed to fetch")) : import("./collab.ts"));
  const { client, slides, settle, connection, clock } = await start({ platform: { collab } });
  await expect(slides.claim("s1")).rejects.toMatchObject({
    code: "part_not_loaded",
    then: "retry",
    message: expect.stringContaining("Failed to fetch"),
  });
  client.claims.watch("slide", ["s1"]);
  await settle();
  expect(loads).toBe(2);
  expect(client.claims.of("slide", "s1").state).toBe("unknown");
  await expect(slides.update("s1", { title: "Works" }).receipt).resolves.toMatchObject({ status: "confirmed" });
  connection.cut?.();
  clock.advance(5_000);
  await settle();
  clock.advance(20);
  await settle();
  expect(loads).toBe(3);
  expect(client.claims.of("slide", "s1").state).toBe("known");
  await expect(slides.claim("s1")).resolves.toMatchObject({ fence: 1 });
});

test("[U15] a client that never claims anything loads nothing for it", async () => {
  let loads = 0;
  const { client } = await start({ platform: { collab: () => import("./collab.ts").finally(() => loads++) } });
  await client.close();
  expect(loads).toBe(0);
});

test("[U16] without a socket the client polls the log, and is online", async () => {
  const { client, slides, server, settle, clock, connection } = await start({ stream: false });
  expect(client.status().name).toBe("online");
  await slides.update("s1", { title: "Mine" }).receipt;
  server.commit({ operations: [{ action: "update", model: "slide", id: "s1", data: { title: "Ben" } }] }, "ben");
  clock.advance(5_000);
  await settle();
  expect(slides.get("s1")).toMatchObject({ title: "Ben" });
  expect(connection.asked.socket).toBe(0);
});

test("[U9] a lease that is given up is held until what was written under it has reached the server", async () => {
  const { slides, server, settle } = await start();
  const lease = await slides.claim("s1");
  const write = slides.update("s1", { title: "Last words" }, { claim: lease });
  await lease.release();
  await settle();
  expect((await write.receipt).status).toBe("confirmed");
  expect(server.claims.of("slide", "s1").claims).toEqual([]);
});

test("[U1] a record that was just made is claimed once it is there", async () => {
  const { slides, server, settle, connection, requested } = await start();
  connection.answers.push("held back");
  slides.create({ title: "New" }, { id: "s2" });
  const claim = slides.claim("s2");
  await settle();
  // The server does not know the record yet, so it would refuse the claim now.
  expect(requested()).toEqual([]);
  connection.release();
  const lease = await claim;
  expect(server.claims.of("slide", "s2").claims).toMatchObject([{ id: lease.id, actor: "ann" }]);
});

test("[U3] [U5] a check without a usable response is repeated, and the lease continues", async () => {
  const { slides, connection, signals, wait, requested } = await start();
  const lease = await slides.claim("s1", { ttl: "60s" });
  await wait(2_000);
  connection.replies.push({ kind: "answer", status: 503, body: undefined });
  signals.woke();
  await wait(3_000);
  // The check itself, not only the renewal that is due later.
  expect(requested().filter((name) => name === "renewClaim")).toHaveLength(2);
  await wait(120_000);
  expect(lease.signal.aborted).toBe(false);
  expect(lease.remainingMs()).toBeGreaterThan(20_000);
});

test("[U7] [U8] a place in the claim queue that arrives after all waiting users have left is released", async () => {
  const { slides, server, connection, ben, settle, wait } = await start();
  const first = ben();
  connection.replies.push("held back");
  const leaving = new AbortController();
  const waiting = slides.claim("s1", { queue: true, signal: leaving.signal });
  await settle();
  const other = slides.claim("s1");
  await settle();
  leaving.abort("no");
  await expect(waiting).rejects.toBe("no");
  connection.release();
  await expect(other).rejects.toMatchObject({ code: "claim_conflict" });
  await settle();
  expect(server.claims.of("slide", "s1").queue).toEqual([]);
  server.claims.release("ben", first.id);
  await wait(5_000);
  expect(server.claims.of("slide", "s1").claims).toEqual([]);
});

test.each([false, true])(
  "[U7] a preempting request is sent although others wait; after the waiter has left: %s",
  async (leaves) => {
    const { slides, connection, ben, settle } = await start();
    ben();
    const leaving = new AbortController();
    const first = slides.claim("s1", { queue: true, signal: leaving.signal });
    first.catch(() => {});
    await settle();
    if (leaves) leaving.abort("no");
    slides.claim("s1", { queue: true, preempt: true }).catch(() => {});
    await settle();
    const acquires = connection.requests.filter(({ name }) => name === "acquireClaim");
    expect(acquires.map((each) => (each.asked.body as { preempt?: boolean }).preempt ?? false)).toEqual([false, true]);
  },
);

test("[U7] requests preempt only while a user wants that", async () => {
  const { slides, connection, server, settle, ben, wait } = await start();
  ben();
  slides.claim("s1", { queue: true }).catch(() => {});
  await settle();
  const leaving = new AbortController();
  const eager = slides.claim("s1", { queue: true, preempt: true, signal: leaving.signal });
  await settle();
  leaving.abort("no");
  await expect(eager).rejects.toBe("no");
  const [mine] = server.claims.of("slide", "s1").queue;
  server.claims.end(mine?.id ?? "", "expired");
  await wait(3_000);
  const acquires = connection.requests.filter(({ name }) => name === "acquireClaim");
  expect(acquires.map((each) => (each.asked.body as { preempt?: boolean }).preempt ?? false)).toEqual([
    false,
    true,
    false,
  ]);
});

test("[U8] a claim that is released without a connection is released later, while the server may still hold it", async () => {
  const { client, slides, server, wait } = await start();
  const lease = await slides.claim("s1", { ttl: "1h" });
  client.pause();
  const released = lease.release();
  await wait(90_000);
  client.resume();
  await wait(2_000);
  await released;
  expect(server.claims.of("slide", "s1").claims).toEqual([]);
});

test("[U9] writes that wait for a person, and writes that depend on them, delay neither a release nor a claim", async () => {
  const { client, slides, server, connection, settle } = await start();
  connection.quiet = true;
  const lease = await slides.claim("s1");
  server.commit({ operations: [{ action: "update", model: "slide", id: "s1", data: { title: "X" } }] } as never, "ann");
  lease.update({ title: "1" });
  await settle();
  expect(client.conflicts()).toHaveLength(1);
  lease.update({ title: "2" });
  await settle();
  await lease.release();
  expect(server.claims.of("slide", "s1").claims).toEqual([]);
});

test("[U11] a record that is watched again before the server was asked to stop is still up to date", async () => {
  const { client, ben, settle, clock } = await start();
  const off = client.claims.watch("slide", ["s1"]);
  await settle();
  clock.advance(50);
  await settle();
  expect(client.claims.of("slide", "s1")).toMatchObject({ state: "known", holders: [] });
  off();
  clock.advance(200);
  ben();
  await settle();
  client.claims.watch("slide", ["s1"]);
  clock.advance(5_000);
  await settle();
  expect(client.claims.of("slide", "s1")).toMatchObject({ state: "known", holders: [{ actor: "ben" }] });
});

test("[R16] an app's listener that throws is the app's fault, and stops nothing", async () => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  const fault = new Error("a fault of the app");
  const { client, slides, server, settle, ben, wait } = await start({ stream: false });
  let throws = true;
  client.subscribe(() => {
    if (throws) throw fault;
  });
  const { id, receipt } = slides.create({ title: "Two" });
  await settle();
  await receipt;
  await wait(6_000);
  expect(client.status().storage).toBe("disk");
  expect(client.pending()).toEqual([]);
  expect(slides.get(id)?.title).toBe("Two");
  throws = false;
  const first = ben();
  const claim = slides.claim("s1", {
    queue: true,
    onPosition: () => {
      throw fault;
    },
  });
  await settle();
  server.claims.release("ben", first.id);
  await wait(40_000);
  expect((await claim).remainingMs()).toBeGreaterThan(0);
  expect(logged.mock.calls.every(([error]) => error === fault)).toBe(true);
  expect(logged).toHaveBeenCalled();
  logged.mockRestore();
});

test("[R50] a listener is not called before subscribe has returned, also if claims are loaded", async () => {
  const { client, settle } = await start();
  client.claims.watch("slide", ["s1"]);
  await settle();
  let hasReturned = false;
  const calls: boolean[] = [];
  client.subscribe(() => calls.push(hasReturned));
  hasReturned = true;
  await client.models.slide.update("s1", { title: "Two" }).receipt;
  expect(calls).toContain(true);
  expect(calls).not.toContain(false);
});
