import { limits } from "@holdfast/sdk/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Principal } from "../../../kernel/tokens/rules/participant.ts";
import { scopeOf } from "../../../kernel/tokens/rules/scope.ts";
import { advanceQueue } from "./advance-queue.ts";
import { type ClaimQueue, type ClaimState, holdersOf, inQueueOrder, isConflict, isSilent } from "./claim.ts";
import type { AcquireClaim, ClaimOrder } from "./claim-order.ts";
import { type ClaimContext, type ClaimDecision, decideClaim } from "./decide-claim.ts";
import { closesCircle, waitsIn } from "./wait-graph.ts";

const T0 = Date.parse("2026-01-02T03:04:05.000Z");

const principal = (name: string, operations?: string[], groups: string[] = ["org:org_1"]): Principal => {
  const [kind, id] = name.includes(":") ? name.split(":") : ["agent", name];
  return {
    tenant: 1,
    organization: "org_1",
    livemode: true,
    database: null,
    participantKind: kind as "agent",
    participantId: id as string,
    tokenId: `token-${name}`,
    tokenKind: "capability",
    expiresAt: null,
    scope: operations && scopeOf("org_1", { operations, syncGroups: groups, onBehalfOf: [] }),
  };
};

/** One record and its line, with a clock that is set by hand. */
function place(groups: readonly string[] | undefined = ["deck:1"]) {
  let queue: ClaimQueue = [];
  let fence = 0;
  let made = 0;
  const ended: ClaimState[] = [];
  const at = {
    now: T0,
    groups: groups as readonly string[] | undefined,
    get queue() {
      return queue;
    },
    ended,
    held: new Map<string, number>(),
    tenant: (): ClaimContext => ({
      now: at.now,
      groups: at.groups,
      syncId: 7,
      nextFence: () => ++fence,
      declaredName: "Slide",
      revokedTokens: new Set(),
      claimsHeld: at.held,
      waitsElsewhere: [],
    }),
    decide(order: ClaimOrder): ClaimDecision {
      const decision = decideClaim(queue, order, at.tenant());
      ended.push(...decision.queue.filter(({ endedAt }) => endedAt !== null));
      queue = decision.queue.filter(({ endedAt }) => endedAt === null);
      return decision;
    },
    claim(name: string, rest: Partial<AcquireClaim> = {}) {
      made += 1;
      return at.decide({
        kind: "acquire",
        principal: principal(name),
        claimId: `c${made}`,
        model: "slide",
        record: "s1",
        field: null,
        ttlMs: 10_000,
        queue: true,
        preempt: false,
        action: undefined,
        description: undefined,
        meta: undefined,
        clientId: undefined,
        ...rest,
      });
    },
    release: (name: string) =>
      at.decide({
        kind: "release",
        principal: principal(name),
        model: "slide",
        record: "s1",
        claimId: undefined,
        clientId: undefined,
      }),
    renew: (name: string, claimId: string, ttlMs?: number) =>
      at.decide({ kind: "renew", principal: principal(name), model: "slide", record: "s1", claimId, ttlMs }),
    advance: () => at.decide({ kind: "advance", tenant: 1, model: "slide", record: "s1" }),
    holders: () => holdersOf(queue, at.now).map(({ participant }) => participant.split(":")[1]),
    waiting: () => inQueueOrder(queue).map(({ participant }) => participant.split(":")[1]),
    /** All who wait are heard of. */
    alive() {
      queue = queue.map((claim) => ({ ...claim, seenAt: at.now }));
    },
  };
  return at;
}

const outcome = (decision: ClaimDecision) => (decision.kind === "refused" ? decision.refusal.code : decision.kind);

test("[A2] a renewal sets the end from now on, also earlier, and a day after the grant is the last", () => {
  const at = place();
  at.claim("ann", { ttlMs: 60_000 });
  at.now += 1_000;
  at.renew("ann", "c1", 2_000);
  expect(at.queue[0]?.expiresAt).toBe(T0 + 3_000);
  for (let renewals = 0; at.holders().length > 0; renewals++) {
    at.now += 500;
    at.renew("ann", "c1", limits.claimTtlMaxMs);
    at.now = (at.queue[0]?.expiresAt ?? at.now) - 1_000;
    expect(renewals).toBeLessThan(100);
    if ((at.queue[0]?.expiresAt ?? 0) === T0 + limits.claimLongestMs) break;
  }
  at.renew("ann", "c1", limits.claimTtlMaxMs);
  expect(at.queue[0]?.expiresAt).toBe(T0 + limits.claimLongestMs);
});

test("[A5] a claim that is over holds nothing, also before anybody wrote that down", () => {
  const at = place();
  at.claim("ann", { ttlMs: 5_000 });
  at.now += 5_000;
  expect(at.holders()).toEqual([]);
  expect(outcome(at.claim("bob", { queue: false }))).toBe("granted");
  expect(outcome(at.renew("ann", "c1"))).toBe("claim_lost");
});

test("[A6] the silent are passed over, come next when they are heard of, and go in the end", () => {
  const at = place();
  at.claim("ann");
  at.claim("bob");
  at.claim("eve");
  at.now += limits.waiterSilentMs + 1;
  at.claim("eve");
  // Ann's lease is over long since.
  expect(at.holders()).toEqual(["eve"]);
  expect(at.waiting()).toEqual(["bob"]);
  at.release("eve");
  expect(at.holders()).toEqual([]);
  expect(at.waiting()).toEqual(["bob"]);
  expect(outcome(at.claim("dan", { queue: false }))).toBe("granted");
  expect(outcome(at.claim("bob"))).toBe("waiting");
  at.release("dan");
  expect(at.holders()).toEqual(["bob"]);

  at.claim("eve");
  at.now += limits.waiterGoneMs;
  at.advance();
  expect(at.queue).toEqual([]);
  expect(at.ended.at(-1)).toMatchObject({ participant: "agent:eve", status: "canceled" });
});

test("[A7] a waiter whose token was revoked, or whose record went elsewhere, is not granted", () => {
  const at = place(["deck:1"]);
  at.claim("ann");
  at.claim("bob", { principal: principal("bob", ["slide.*"], ["deck:1"]) });
  at.claim("eve");
  at.groups = ["deck:2"];
  at.release("ann");
  expect(at.holders()).toEqual(["eve"]);
  expect(at.ended.find(({ participant }) => participant === "agent:bob")?.status).toBe("canceled");
  const revoked = at.queue.map((claim) => ({ ...claim, revokedAt: at.now }));
  expect(advanceQueue(revoked, at.tenant()).map(({ status }) => status)).toEqual(["canceled"]);
});

test("[A8] a circle is found however long it is, through holders and through those before one in a line", () => {
  const wait = (waiter: string, blocker: string) => ({ waiter, blocker });
  expect(closesCircle([], "a", ["b"])).toBe(false);
  expect(closesCircle([wait("b", "a")], "a", ["b"])).toBe(true);
  expect(closesCircle([wait("b", "c"), wait("c", "d"), wait("d", "a")], "a", ["b"])).toBe(true);
  expect(closesCircle([wait("b", "c"), wait("c", "b")], "a", ["b"])).toBe(false);
  const at = place();
  at.claim("ann");
  at.claim("bob");
  at.claim("eve");
  expect(waitsIn(at.queue, at.now)).toEqual([
    wait("agent:bob", "agent:ann"),
    wait("agent:eve", "agent:ann"),
    wait("agent:eve", "agent:bob"),
  ]);
});

/** Anything that may happen to a line, in any order. */
const happening = fc.oneof(
  fc.record({
    do: fc.constant("claim" as const),
    who: fc.constantFrom("a", "b", "c", "d", "e"),
    field: fc.constantFrom(null, null, "title", "notes"),
    queue: fc.boolean(),
    ttlMs: fc.integer({ min: 1_000, max: 60_000 }),
  }),
  fc.record({ do: fc.constant("release" as const), who: fc.constantFrom("a", "b", "c", "d", "e") }),
  fc.record({ do: fc.constant("renew" as const), who: fc.constantFrom("a", "b", "c", "d", "e") }),
  fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(1, 999, 5_000, 31_000, 100_000, 301_000) }),
  fc.record({ do: fc.constant("alive" as const) }),
  fc.record({ do: fc.constant("advance" as const) }),
);

test("[A1] [A3] [A5] with random orders: no two conflicting holders, fences grow, no living waiter is overtaken, none is forgotten", () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 60 }), (happenings) => {
      const at = place();
      let fence = 0;
      for (const one of happenings) {
        if (one.do === "wait") at.now += one.ms;
        if (one.do === "alive") at.alive();
        const before = at.queue;
        if (one.do === "claim") at.claim(one.who, { field: one.field, queue: one.queue, ttlMs: one.ttlMs });
        if (one.do === "release") at.release(one.who);
        if (one.do === "renew") {
          const own = at.queue.find(({ participant }) => participant === `agent:${one.who}`);
          if (own) at.renew(one.who, own.id, 5_000);
        }
        if (one.do === "advance") at.advance();
        const holders = holdersOf(at.queue, at.now);
        for (const [i, a] of holders.entries())
          for (const b of holders.slice(i + 1)) expect(isConflict(a, b)).toBe(false);
        const granted = at.queue.filter(({ fence: own }) => own !== null && own > fence);
        for (const grant of granted) {
          // An earlier claim that conflicts with it was passed over, because its waiter was silent.
          const earlier = inQueueOrder(before).filter(({ place }) => place < grant.place);
          for (const other of earlier)
            if (isConflict(other, grant) && at.queue.some(({ id, status }) => id === other.id && status === "queued"))
              expect(isSilent(other, at.now)).toBe(true);
          fence = Math.max(fence, grant.fence ?? 0);
        }
        // One that waits for nothing holds it.
        if (one.do === "advance" || one.do === "release")
          for (const waiter of inQueueOrder(at.queue))
            if (!isSilent(waiter, at.now)) {
              const others = [...holders, ...inQueueOrder(at.queue).filter((other) => other.place < waiter.place)];
              expect(others.some((other) => isConflict(other, waiter))).toBe(true);
            }
      }
    }),
    { seed: 20_260_131, numRuns: 300 },
  );
});

test("[A22] a participant that has 1 000 claims gets no further one, and renews those that it has", () => {
  const at = place();
  expect(at.claim("ann").kind).toBe("granted");
  at.held.set("agent:ann", limits.claimsPerParticipant);
  expect(at.claim("ann").kind).toBe("renewed");
  expect(at.claim("ann", { field: "title", clientId: "other" })).toMatchObject({
    refusal: { code: "too_many_claims" },
  });
  expect(at.claim("bob").kind).toBe("waiting");
  at.held.set("agent:ann", limits.claimsPerParticipant - 1);
  expect(at.claim("ann", { clientId: "other" }).kind).toBe("waiting");
});
