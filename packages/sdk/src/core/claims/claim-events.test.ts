import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { Claim } from "../../protocol/claims/claim.ts";
import { type Answer, ModelClaims } from "../../testing/model-claims.ts";
import {
  type CollabConnection,
  type CollabEffect,
  type CollabHappening,
  collabDueAt,
  collabStep,
  emptyCollab,
} from "../collab/collab.ts";
import type { Reply } from "../queue/outcome.ts";
import { claimsDueAt } from "./claim-due.ts";
import type { ClaimNews, Hold, Instant } from "./claim-state.ts";
import { remainingMs } from "./lease-time.ts";

type Request = Extract<CollabEffect, { do: "request" }>;

const LIVE: CollabConnection = { canRequest: true, live: true, clientId: "c1", participant: "user:ann", session: "s1" };
const SILENCE: Reply = { kind: "silence", timedOut: true, reason: "late" };

/** The state machine with a model server. The test controls the true time, the client's two clocks, requests and frames. */
class Setup {
  time = 0;
  /** The head of the log, and the position of the client's rows. */
  head = 0;
  readTo = 0;
  #slept = 0;
  #wallOff = 5_000_000;
  readonly server = new ModelClaims(
    () => this.time,
    () => this.head,
  );
  state = emptyCollab;
  /** Requests that have not reached the server; and responses that have not reached the client. */
  up: Request[] = [];
  down: { request: Request; reply: Reply }[] = [];
  frames: Claim[] = [];
  readonly effects: CollabEffect[] = [];
  readonly news: { lease: string; news: ClaimNews }[] = [];
  readonly requests: Request[] = [];

  constructor(connection: CollabConnection = LIVE) {
    this.server.onChange((claim) => claim.actor === "ann" && this.frames.push(claim));
    this.dispatch({ type: "connection", connection });
  }

  now = (): Instant => ({ at: this.time - this.#slept, wall: this.time + this.#wallOff });

  dispatch(happening: CollabHappening): void {
    const [state, effects] = collabStep(this.state, { ...happening, now: this.now(), roll: 0.5, readTo: this.readTo });
    this.state = state;
    this.effects.push(...effects);
    for (const effect of effects) {
      if (effect.do === "notifyLease") this.news.push(effect);
      if (effect.do === "request") {
        this.up.push(effect);
        this.requests.push(effect);
      }
      // A dropped request may still reach the server.
      if (effect.do === "drop") this.down = this.down.filter(({ request }) => request.n !== effect.n);
    }
    this.check();
  }

  claim(lease: string, queue = true, ttl: number | undefined = undefined): void {
    const target = { model: "slide", id: "s1" };
    this.dispatch({ type: "claimed", target, terms: ttl === undefined ? {} : { ttl }, lease, queue });
  }

  /** Advances the time. Timers of the client fire unless it sleeps. */
  pass(ms: number): void {
    const until = this.time + ms;
    for (let rings = 0; ; rings++) {
      if (rings > 1_000) throw new Error(`A timer rings without end: ${JSON.stringify([...this.state.holds])}`);
      const at = collabDueAt(this.state, this.now());
      if (at === undefined || at + this.#slept > until) break;
      this.time = Math.max(this.time, at + this.#slept);
      this.server.sweep();
      this.dispatch({ type: "due" });
    }
    this.time = until;
    this.server.sweep();
    this.check();
  }

  sleep(ms: number): void {
    this.time += ms;
    this.#slept += ms;
    this.server.sweep();
    this.check();
  }

  /** Sets the wall clock forward. Setting it back by the time asleep would hide the sleep from both clocks. */
  jump(ms: number): void {
    this.#wallOff += ms;
    this.check();
  }

  receive(at = 0): void {
    const [request] = this.up.splice(at % Math.max(1, this.up.length), 1);
    if (!request) return;
    const { status, body } = this.#answer(request);
    if (request.what !== "poll" || (body as Claim).status !== "queued")
      this.down.push({ request, reply: { kind: "answer", status, body } });
    else this.up.push(request);
  }

  answer(at = 0, lost = false): void {
    const [next] = this.down.splice(at % Math.max(1, this.down.length), 1);
    if (!next) return;
    const { key, n } = next.request;
    this.dispatch({ type: "answered", key, n, reply: lost ? SILENCE : next.reply });
  }

  loseRequest(): void {
    const request = this.up.shift();
    if (request) this.dispatch({ type: "answered", key: request.key, n: request.n, reply: SILENCE });
  }

  frame(arrives: boolean): void {
    const claim = this.frames.shift();
    if (claim && arrives && this.state.connection.live)
      this.dispatch({ type: "received", frame: { frame: "claim", claim } });
  }

  /** Delivers all requests, responses and frames. */
  settle(): void {
    for (let i = 0; i < 20; i++) {
      while (this.up.some(({ what }) => what !== "poll"))
        this.receive(this.up.findIndex(({ what }) => what !== "poll"));
      while (this.down.length > 0) this.answer();
      while (this.frames.length > 0) this.frame(true);
    }
  }

  held(): boolean {
    return [...this.state.holds.values()].some(({ stage }) => remainingMs(stage, this.now()) > 0);
  }

  last(lease: string): ClaimNews | undefined {
    return this.news.filter((each) => each.lease === lease).at(-1)?.news;
  }

  #answer({ what, claimId = "", target, body }: Request): Answer {
    if (what === "acquire") return this.server.acquire("ann", target.model, target.id, body);
    if (what === "renew") return this.server.renew("ann", claimId);
    if (what === "poll") return this.server.read(claimId);
    return claimId ? this.server.release("ann", claimId) : this.server.releaseRecord("ann", target.model, target.id);
  }

  /** Checks that the server has each claim that the client relies on, for this participant. */
  check(): void {
    for (const { stage } of this.state.holds.values()) {
      if (stage.phase !== "held" || remainingMs(stage, this.now()) === 0) continue;
      const claims = this.server.of("slide", "s1").claims;
      if (!claims.some((claim) => claim.id === stage.claimId && claim.actor === "ann"))
        throw new Error(`At ${this.time} the client relies on ${stage.claimId}, which is not its own any more.`);
    }
  }
}

const rival = (deps: Setup) => deps.server.acquire("ben", "slide", "s1", { ttl: 60_000 }).body as Claim;

test("[U2] a lease counts from the time its request was sent, less a tenth", () => {
  const deps = new Setup();
  deps.claim("l1", true, 60_000);
  deps.pass(7_000);
  deps.receive();
  deps.pass(2_000);
  deps.answer();
  const [hold] = deps.state.holds.values();
  expect(hold && remainingMs(hold.stage, deps.now())).toBe(60_000 * 0.9 - 9_000);
});

test("[U3] a lease is renewed after a third of its time, and a hanging renewal leaves time for others", () => {
  const deps = new Setup();
  deps.claim("l1", true, 60_000);
  deps.settle();
  deps.pass(19_999);
  expect(deps.requests.map((r) => r.what)).toEqual(["acquire"]);
  deps.pass(1);
  expect(deps.requests.at(-1)).toMatchObject({ what: "renew", timeoutMs: 10_000 });
  // Without responses, each renewal times out in time for the next, until the lease is over.
  for (let i = 0; i < 60; i++) {
    if (deps.up.length > 0) deps.loseRequest();
    deps.pass(600);
  }
  expect(deps.requests.filter((r) => r.what === "renew").length).toBeGreaterThan(5);
  expect(deps.last("l1")).toEqual({ kind: "lost", reason: "deadline" });
  expect(deps.time).toBeLessThan(60_000);
});

test("[U4] a lease that the server ends is lost at once, with the reason", () => {
  for (const status of ["preempted", "released", "expired", "canceled"] as const) {
    const deps = new Setup();
    deps.claim("l1");
    deps.settle();
    const [own] = deps.server.of("slide", "s1").claims;
    if (own) deps.dispatch({ type: "received", frame: { frame: "claim", claim: { ...own, status } } });
    expect(deps.last("l1")).toEqual({ kind: "lost", reason: status });
    expect(deps.state.holds.size).toBe(0);
  }
});

const losses: [string, number, string, string][] = [
  ["claim_lost", 409, "claim_error", "refused"],
  ["claim_not_found", 404, "not_found_error", "refused"],
  ["not_claim_holder", 403, "permission_error", "refused"],
  ["token_revoked", 401, "authentication_error", "revoked"],
];

test.each(losses)("[U4] a renewal that is answered with %s ends the lease at once", (code, status, type, reason) => {
  const deps = new Setup();
  deps.claim("l1");
  deps.settle();
  deps.pass(20_000);
  const request = deps.up.shift();
  if (!request) throw new Error("It was not renewed.");
  const reply: Reply = { kind: "answer", status, body: { code, type, message: "said" } };
  deps.dispatch({ type: "answered", key: request.key, n: request.n, reply });
  expect(deps.last("l1")).toEqual({ kind: "lost", reason });
});

test("[U4] an error frame about a revoked token ends the lease", () => {
  const deps = new Setup();
  deps.claim("l1");
  deps.settle();
  const error = { frame: "error", type: "authentication_error", code: "token_revoked", message: "said" } as const;
  deps.dispatch({ type: "received", frame: error });
  expect(deps.last("l1")).toEqual({ kind: "lost", reason: "revoked" });
});

test("[U4] an expired token ends no lease: the client requests another one, and the lease lasts until its deadline", () => {
  const deps = new Setup();
  deps.claim("l1");
  deps.settle();
  deps.pass(20_000);
  const request = deps.up.shift();
  const body = { code: "token_expired", type: "authentication_error", message: "over" };
  if (request)
    deps.dispatch({ type: "answered", key: request.key, n: request.n, reply: { kind: "answer", status: 401, body } });
  expect(deps.last("l1")).toMatchObject({ kind: "granted" });
  expect(deps.held()).toBe(true);
});

test("[U5] after sleep, the client checks a claim with the server before relying on it", () => {
  const deps = new Setup();
  deps.claim("l1");
  deps.settle();
  deps.sleep(3_600_000);
  expect(deps.held()).toBe(false);
  deps.dispatch({ type: "woke" });
  expect(deps.requests.at(-1)?.what).toBe("renew");
  deps.settle();
  expect(deps.last("l1")).toEqual({ kind: "lost", reason: "refused" });
});

test("[U5] a wall clock that is set forward costs one request, not the lease", () => {
  const deps = new Setup();
  deps.claim("l1");
  deps.settle();
  deps.jump(3_600_000);
  expect(deps.held()).toBe(false);
  deps.dispatch({ type: "woke" });
  deps.settle();
  expect(deps.held()).toBe(true);
  expect(deps.last("l1")).toMatchObject({ kind: "granted" });
});

test("[U6] [U20] a grant that the stream reports needs no request: it counts from the last one that found the claim queued", () => {
  const deps = new Setup();
  const other = rival(deps);
  deps.claim("l1", true, 60_000);
  deps.settle();
  expect(deps.last("l1")).toEqual({ kind: "position", position: 0 });
  deps.pass(12_000);
  deps.server.release("ben", other.id);
  deps.frame(true);
  expect(deps.last("l1")).toMatchObject({ kind: "granted", fence: 2 });
  expect(deps.requests.map(({ what }) => what)).toEqual(["acquire"]);
  const [hold] = deps.state.holds.values();
  expect(hold && remainingMs(hold.stage, deps.now())).toBe(60_000 * 0.9 - 12_000);
});

test("[U6] [U20] if most of the lease may have passed, a grant that the stream reports is requested again first", () => {
  const deps = new Setup();
  const other = rival(deps);
  deps.claim("l1", true, 15_000);
  deps.settle();
  deps.pass(12_000);
  deps.server.release("ben", other.id);
  deps.frame(true);
  expect(deps.held()).toBe(false);
  expect(deps.requests.at(-1)?.what).toBe("renew");
  deps.settle();
  expect(deps.held()).toBe(true);
});

test("[U6] a response from before the grant does not take the granted claim away", () => {
  const deps = new Setup();
  const other = rival(deps);
  deps.claim("l1", true, 60_000);
  deps.settle();
  deps.pass(20_000);
  deps.receive(); // the check of a waiting client: the server answers that it is queued
  deps.server.release("ben", other.id);
  deps.frame(true);
  deps.settle();
  expect(deps.held()).toBe(true);
  expect(deps.last("l1")).toMatchObject({ kind: "granted" });
});

test("[U6] a grant that arrives before the response to the queued request is not missed", () => {
  const deps = new Setup();
  const other = rival(deps);
  deps.claim("l1");
  deps.receive();
  deps.server.release("ben", other.id);
  while (deps.frames.length > 0) deps.frame(true);
  deps.settle();
  expect(deps.held()).toBe(true);
});

test("[U6] a waiter renews every 20 s although the stream is open, and polls without one", () => {
  const deps = new Setup();
  rival(deps);
  deps.claim("l1");
  deps.settle();
  deps.pass(20_000);
  expect(deps.requests.at(-1)?.what).toBe("renew");
  deps.settle();
  deps.dispatch({ type: "connection", connection: { ...LIVE, live: false } });
  expect(deps.requests.at(-1)).toMatchObject({ what: "poll", timeoutMs: 35_000 });
});

/** A client whose rows are at position 3 is granted a claim when the log is at 7. */
function behind(connection: CollabConnection = LIVE): Setup {
  const deps = new Setup(connection);
  deps.head = 7;
  deps.readTo = 3;
  deps.claim("l1", true, 60_000);
  deps.settle();
  return deps;
}
const logReads = (deps: Setup) => deps.effects.filter((effect) => effect.do === "readUpTo");

test("[U17] the app is notified of a grant when the rows have reached it", () => {
  const deps = behind();
  expect(deps.last("l1")).toBeUndefined();
  deps.readTo = 6;
  deps.dispatch({ type: "due" });
  expect(deps.last("l1")).toBeUndefined();
  deps.readTo = 7;
  deps.dispatch({ type: "due" });
  expect(deps.last("l1")).toMatchObject({ kind: "granted", claimId: "clm_1" });
  expect(logReads(deps)).toEqual([]);
});

test("[U17] the stream has 250 ms to deliver missing entries, then the log is read once", () => {
  const deps = behind();
  deps.pass(249);
  expect(logReads(deps)).toEqual([]);
  deps.pass(1_000);
  expect(logReads(deps)).toEqual([{ do: "readUpTo", syncId: 7 }]);
});

test("[U17] without a stream the log is read at once", () => {
  expect(logReads(behind({ ...LIVE, live: false }))).toEqual([{ do: "readUpTo", syncId: 7 }]);
});

test("[U17] [U24] after 5 s the app is notified of the grant in any case", () => {
  const deps = behind();
  deps.pass(4_999);
  expect(deps.last("l1")).toBeUndefined();
  deps.pass(1);
  expect(deps.last("l1")).toMatchObject({ kind: "granted" });
});

test("[U17] a second user of the claim waits for the same rows, and a lease that ends before is requested again", () => {
  const deps = behind();
  deps.claim("l2");
  expect(deps.last("l2")).toBeUndefined();
  deps.server.end("clm_1", "expired");
  deps.frame(true);
  deps.frame(true);
  deps.settle();
  expect(deps.last("l1")).toBeUndefined();
  deps.readTo = 7;
  deps.dispatch({ type: "due" });
  expect(deps.last("l1")).toMatchObject({ kind: "granted", claimId: "clm_2" });
  expect(deps.last("l2")).toMatchObject({ kind: "granted", claimId: "clm_2" });
});

test("[U18] a lost lease names the present holder, from the frame or from a refused renewal", () => {
  const holders = [rival(new Setup())];
  const preempted = new Setup();
  preempted.claim("l1");
  preempted.settle();
  const ended = { ...(preempted.server.read("clm_1").body as Claim), status: "preempted" as const };
  preempted.dispatch({ type: "received", frame: { frame: "claim", claim: ended, holders } });
  expect(preempted.last("l1")).toEqual({ kind: "lost", reason: "preempted", holders });

  const refused = new Setup();
  refused.claim("l1", true, 60_000);
  refused.settle();
  refused.sleep(61_000);
  rival(refused);
  refused.frames = [];
  refused.dispatch({ type: "woke" });
  refused.settle();
  expect(refused.last("l1")).toMatchObject({ kind: "lost", reason: "refused", holders: [{ actor: "ben" }] });
});

test("[U6] a lost place in the claim queue is requested again", () => {
  const deps = new Setup();
  rival(deps);
  deps.claim("l1");
  deps.settle();
  const [own] = deps.server.of("slide", "s1").queue;
  if (own) deps.server.end(own.id, "canceled");
  deps.settle();
  deps.pass(1_000);
  deps.settle();
  expect(deps.server.of("slide", "s1").queue.map((claim) => claim.actor)).toEqual(["ann"]);
  expect(deps.last("l1")).toEqual({ kind: "position", position: 0 });
});

test("[U7] a further user shares the claim without a request, and the last one releases it", () => {
  const deps = new Setup();
  deps.claim("l1");
  deps.claim("l2");
  deps.settle();
  deps.claim("l3", false);
  expect(deps.requests).toHaveLength(1);
  expect(["l1", "l2", "l3"].map((l) => deps.last(l)?.kind)).toEqual(["granted", "granted", "granted"]);
  for (const lease of ["l1", "l2"]) deps.dispatch({ type: "left", lease });
  deps.settle();
  expect(deps.server.of("slide", "s1").claims).toHaveLength(1);
  deps.dispatch({ type: "left", lease: "l3" });
  deps.settle();
  expect(deps.server.of("slide", "s1").claims).toEqual([]);
  expect(deps.last("l3")).toEqual({ kind: "released" });
});

test("[U8] a claim that is canceled before its response is released after the response, or without one", () => {
  for (const lost of [false, true]) {
    const deps = new Setup();
    deps.claim("l1");
    deps.receive();
    deps.dispatch({ type: "left", lease: "l1" });
    expect(deps.requests.map((r) => r.what)).toEqual(["acquire"]);
    deps.answer(0, lost);
    deps.pass(1_000);
    deps.settle();
    // The id in the lost response is requested again: the same claim, not another one.
    expect(deps.requests.map((r) => r.what)).toEqual(lost ? ["acquire", "acquire", "release"] : ["acquire", "release"]);
    expect(deps.server.of("slide", "s1")).toEqual({ claims: [], queue: [] });
  }
});

test("[U8] a claim during a release is requested after the release", () => {
  const deps = new Setup();
  deps.claim("l1");
  deps.settle();
  deps.dispatch({ type: "left", lease: "l1" });
  deps.claim("l2");
  deps.settle();
  expect(deps.requests.map((r) => r.what)).toEqual(["acquire", "release", "acquire"]);
  expect(deps.last("l2")).toMatchObject({ kind: "granted", fence: 2 });
});

vi.setConfig({ testTimeout: 600_000 });
const RUNS = Number(process.env.HOLDFAST_SEEDS ?? 1_000);

/** Moves that once failed: an abandoned release arrived after the next claim and ended that one. */
const FAILED_ONCE: [number, number][][] = [
  // biome-ignore format: a shrunk run in one line, as fast-check prints it
  [[0, 0], [85, 0], [8, 0], [85, 46], [85, 0], [12, 0], [85, 556], [12, 2353], [30, 233], [0, 0], [12, 1563], ...Array.from({ length: 26 }, (): [number, number] => [0, 0])],
];

test("[U2] under losses, delays and sleep, no lease is relied on longer than granted, and a waiter gets the claim in the end", () => {
  const move = fc.noBias(fc.tuple(fc.nat(99), fc.nat(9_999)));
  let granted = 0;
  fc.assert(
    fc.property(fc.noBias(fc.array(move, { minLength: 30, maxLength: 150 })), (moves) => {
      const deps = new Setup();
      let made = 0;
      const leases: string[] = [];
      for (const [kind, random] of moves) {
        if (kind < 8) {
          leases.push(`l${++made}`);
          deps.claim(`l${made}`, random % 4 > 0, 5_000 + random);
        } else if (kind < 12)
          deps.dispatch({ type: "left", lease: leases[random % Math.max(1, leases.length)] ?? "none" });
        else if (kind < 30) deps.receive(random);
        else if (kind < 46) deps.answer(random, random % 7 === 0);
        else if (kind < 50) deps.loseRequest();
        else if (kind < 58) deps.frame(random % 6 > 0);
        else if (kind < 76) deps.pass(random % 3_000);
        else if (kind < 80) deps.sleep(random * 10);
        else if (kind < 83) deps.dispatch({ type: "woke" });
        else if (kind < 85) deps.jump(random);
        else if (kind < 90)
          deps.dispatch({
            type: "connection",
            connection: { ...LIVE, live: random % 2 > 0, canRequest: random % 5 > 0 },
          });
        else if (kind < 95) deps.server.acquire("ben", "slide", "s1", { ttl: 1_000 + random, queue: random % 2 > 0 });
        else for (const claim of deps.server.of("slide", "s1").claims) deps.server.release("ben", claim.id);
      }
      granted += deps.news.filter(({ news }) => news.kind === "granted").length;
      deps.dispatch({ type: "connection", connection: LIVE });
      // A lease that was nearly over may still be lost. Then claim again, like an app.
      let wanted = "last";
      deps.claim(wanted);
      for (let i = 0; i < 100; i++) {
        deps.settle();
        deps.pass(1_000);
        if (deps.last(wanted)?.kind !== "lost") continue;
        wanted += "+";
        deps.claim(wanted);
      }
      // No other participant holds it for longer than its ttl, so a patient waiter gets it.
      expect(deps.last(wanted)).toMatchObject({ kind: "granted" });
      expect(deps.held()).toBe(true);
    }),
    { numRuns: RUNS, examples: FAILED_ONCE.map((moves) => [moves]) },
  );
  expect(granted).toBeGreaterThan(RUNS);
});

test("[U3] an expired retry delay does not hide a later renewal", () => {
  const now: Instant = { at: 10_000, wall: 10_000 };
  const stage = {
    phase: "held",
    claimId: "c",
    fence: 1,
    sent: now,
    ttlMs: 60_000,
    unread: undefined,
    check: false,
  } as const;
  const hold = { target: { model: "slide", id: "s1" }, users: [], flight: undefined, lastPushed: undefined };
  const dueWith = (wait: Hold["wait"]) => claimsDueAt(new Map([["s1", { ...hold, stage, wait }]]), LIVE, now);
  const renewal = dueWith(undefined);
  expect(renewal).toBe(30_000);
  expect(dueWith({ at: 9_000, attempt: 1 })).toBe(renewal);
  expect(dueWith({ at: 12_000, attempt: 1 })).toBe(12_000);
});
