import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { check, type ViolationKind } from "./check.ts";
import type { Answer, Call, Entry, History, ShownClaim, What } from "./history.ts";
import { imagine, SYNTHETIC_BUGS, type SyntheticBug } from "./testing/synthetic-history.ts";

const TTL = 1_000;
const participants = ["ann", "bob", "cy"].map((actor) => ({ actor, kind: "agent" as const, ttlMs: TTL }));

/** A request that is sent at a given time and answered 10 ms later. Without an answer its outcome is unknown. */
let asked = 0;
function call(actor: string, at: number, what: What, answer?: Partial<Answer> & { status: number }): Call {
  const moment = (ms: number) => ({ mono: ms, wall: ms });
  const begun = { id: `q${++asked}`, actor, what, asked: moment(at) };
  return answer ? { ...begun, answered: moment(at + 10), answer: { claims: [], ...answer } } : begun;
}

const claim = (id: string, actor: string, more: Partial<ShownClaim> = {}): ShownClaim => ({
  id,
  actor,
  record: "r",
  status: "active",
  createdAt: 0,
  ...more,
});

/** Asked for at a time and granted 5 ms later. */
const granted = (id: string, actor: string, at: number, fence: number, more: Partial<ShownClaim> = {}): Call =>
  call(
    actor,
    at,
    { op: "claim", record: "r", field: more.field, queue: false },
    { status: 201, claims: [claim(id, actor, { fence, createdAt: at + 5, expiresAt: at + 5 + TTL, ...more })] },
  );

const joined = (id: string, actor: string, at: number): Call =>
  call(
    actor,
    at,
    { op: "claim", record: "r", queue: true },
    { status: 202, claims: [claim(id, actor, { status: "queued", createdAt: at + 5, position: 0 })] },
  );

/** Looks, and sees that it was granted at a time. */
const sees = (
  id: string,
  actor: string,
  at: number,
  grantedAt: number,
  fence: number,
  createdAt: number,
  field?: string,
): Call =>
  call(
    actor,
    at,
    { op: "poll", record: "r", claim: id },
    {
      status: 200,
      claims: [claim(id, actor, { fence, createdAt, expiresAt: grantedAt + TTL, ...(field && { field }) })],
    },
  );

const waits = (id: string, actor: string, at: number, createdAt: number): Call =>
  call(
    actor,
    at,
    { op: "poll", record: "r", claim: id },
    { status: 200, claims: [claim(id, actor, { status: "queued", createdAt, position: 0 })] },
  );

const released = (id: string, actor: string, at: number): Call =>
  call(actor, at, { op: "release", record: "r", claim: id }, { status: 200 });

/** Takes it from its holder. */
const preempts = (id: string, actor: string, at: number, fence: number, queuedAt?: number): Call =>
  call(
    actor,
    at,
    { op: "claim", record: "r", queue: queuedAt !== undefined, preempt: true },
    { status: 201, claims: [claim(id, actor, { fence, createdAt: queuedAt ?? at + 5, expiresAt: at + 5 + TTL })] },
  );

const lists = (actor: string, at: number, ...claims: ShownClaim[]): Call =>
  call(actor, at, { op: "list", record: "r" }, { status: 200, claims });

/** Sent, with an unknown outcome. */
const sent = (op: "release" | "renew", id: string, actor: string, at: number): Call =>
  call(actor, at, { op, record: "r", claim: id });

const writes = (actor: string, at: number, answer: Partial<Answer> & { status: number }, named?: string): Call =>
  call(actor, at, { op: "write", record: "r", name: "w1", fields: ["a"], ...(named && { claim: named }) }, answer);

const entry = (actor: string, at: number, more: Partial<Entry> = {}): Entry => ({
  syncId: 1,
  record: "r",
  fields: ["a"],
  actor,
  name: "w1",
  claim: null,
  at,
  ...more,
});

const lost = { status: 409, code: "claim_lost", holders: 0 };
const conflicted = { status: 409, code: "claim_conflict", holders: 1 };
const done = { status: 200, lastSyncId: 1 };

const found = (calls: readonly Call[], log: readonly Entry[] = [], rest: Partial<History> = {}): ViolationKind[] => [
  ...new Set(
    check({
      participants,
      calls: calls.toSorted((a, b) => a.asked.mono - b.asked.mono),
      heard: [],
      log,
      ...rest,
    }).violations.map(({ kind }) => kind),
  ),
];

type Story = [says: string, calls: readonly Call[], log?: readonly Entry[]];

describe("valid histories", () => {
  test.each<Story>([
    [
      "one after the other, by release",
      [granted("c1", "ann", 0, 1), released("c1", "ann", 500), granted("c2", "bob", 520, 2)],
    ],
    ["one after the other, by expiry", [granted("c1", "ann", 0, 1), granted("c2", "bob", 1_000, 2)]],
    [
      "different fields beside each other",
      [granted("c1", "ann", 0, 1, { field: "a" }), granted("c2", "bob", 20, 2, { field: "b" })],
    ],
    [
      "a field and the whole record, of one participant",
      [granted("c1", "ann", 0, 1, { field: "a" }), granted("c2", "ann", 20, 2)],
    ],
    [
      "a grant while a release is under way",
      [granted("c1", "ann", 0, 1), sent("release", "c1", "ann", 100), granted("c2", "bob", 101, 2)],
    ],
    [
      "a grant after a release whose outcome is unknown",
      [
        granted("c1", "ann", 0, 1),
        call("ann", 100, { op: "release-record", record: "r" }),
        granted("c2", "bob", 900, 2),
      ],
    ],
    ["a claim that was taken over", [granted("c1", "ann", 0, 1), preempts("c2", "bob", 100, 2)]],
    [
      "two grants of one moment, one of which was not yet seen: its commit took a while",
      [
        granted("c1", "ann", 0, 1),
        sees("c2", "bob", 1_100, 1_005, 2, 105, "b"),
        sees("c3", "cy", 1_100, 1_005, 3, 205, "a"),
        lists("key", 1_010, claim("c2", "bob", { status: "queued", createdAt: 105, field: "b" })),
      ],
    ],
    [
      "a waiter who took it over",
      [
        granted("c1", "ann", 0, 1),
        joined("c2", "bob", 100),
        joined("c3", "cy", 200),
        preempts("c3", "cy", 300, 2, 205),
        waits("c2", "bob", 1_200, 105),
      ],
    ],
    [
      "the line in its order",
      [
        granted("c1", "ann", 0, 1),
        joined("c2", "bob", 100),
        joined("c3", "cy", 200),
        sees("c2", "bob", 1_100, 1_005, 2, 105),
        sees("c3", "cy", 2_100, 2_005, 3, 205),
      ],
    ],
    [
      "an order that two who asked at the same time may have either way",
      [
        granted("c1", "ann", 0, 1),
        joined("c2", "bob", 100),
        joined("c3", "cy", 105),
        sees("c3", "cy", 1_100, 1_005, 2, 110),
        sees("c2", "bob", 2_100, 2_005, 3, 105),
      ],
    ],
    [
      "one who had left the line",
      [
        granted("c1", "ann", 0, 1),
        joined("c2", "bob", 100),
        sent("release", "c2", "bob", 300),
        joined("c3", "cy", 200),
        sees("c3", "cy", 1_100, 1_005, 2, 205),
      ],
    ],
    [
      "an order that was changed",
      [
        granted("c1", "ann", 0, 1),
        joined("c2", "bob", 100),
        joined("c3", "cy", 200),
        call("key", 300, { op: "reorder", record: "r" }, { status: 200 }),
        sees("c3", "cy", 1_100, 1_005, 2, 205),
        waits("c2", "bob", 1_200, 105),
      ],
    ],
    [
      "a holder's write",
      [granted("c1", "ann", 0, 1), writes("ann", 100, done, "c1")],
      [entry("ann", 105, { claim: "c1" })],
    ],
    [
      "a write to a field that is not claimed",
      [granted("c1", "ann", 0, 1, { field: "b" }), writes("bob", 100, done)],
      [entry("bob", 105)],
    ],
    ["a lapsed claim that is told so", [granted("c1", "ann", 0, 1), writes("ann", 2_000, lost, "c1")]],
    ["a claim without a lease", [writes("ann", 2_000, lost, "made-up")]],
    [
      "a renewal whose outcome is unknown, and a write after",
      [granted("c1", "ann", 0, 1), sent("renew", "c1", "ann", 900), writes("ann", 1_500, done, "c1")],
      [entry("ann", 1_505, { claim: "c1" })],
    ],
    [
      "a write without an answer",
      [granted("c1", "ann", 0, 1), call("bob", 100, { op: "write", record: "r", name: "w1" })],
    ],
  ])("%s", (_, calls, log) => {
    expect(found(calls, log)).toEqual([]);
  });
});

describe("invalid histories", () => {
  test.each<[says: string, calls: readonly Call[], log: readonly Entry[], kind: ViolationKind]>([
    ["two holders by their grants", [granted("c1", "ann", 0, 1), granted("c2", "bob", 500, 2)], [], "overlap"],
    [
      "a field and the whole record",
      [granted("c1", "ann", 0, 1, { field: "a" }), granted("c2", "bob", 500, 2)],
      [],
      "overlap",
    ],
    [
      "a grant before the end that a renewal moved",
      [
        granted("c1", "ann", 0, 1),
        call(
          "ann",
          900,
          { op: "renew", record: "r", claim: "c1" },
          { status: 200, claims: [claim("c1", "ann", { fence: 1, createdAt: 5, expiresAt: 1_905 })] },
        ),
        granted("c2", "bob", 1_100, 2),
      ],
      [],
      "overlap",
    ],
    [
      "two holders in one answer",
      [lists("cy", 0, claim("c1", "ann", { fence: 1 }), claim("c2", "bob", { fence: 2 }))],
      [],
      "overlap",
    ],
    [
      "a grant although a release was refused",
      [
        granted("c1", "ann", 0, 1),
        call("ann", 50, { op: "release", record: "r", claim: "c1" }, { status: 403, code: "not_claim_holder" }),
        granted("c2", "bob", 500, 2),
      ],
      [],
      "overlap",
    ],
    ["a fence twice", [granted("c1", "ann", 0, 1), granted("c2", "bob", 1_100, 1)], [], "fence"],
    ["a fence that falls", [granted("c1", "ann", 0, 5), granted("c2", "bob", 1_100, 4)], [], "fence"],
    [
      "a grant without a fence",
      [
        call(
          "ann",
          0,
          { op: "claim", record: "r", queue: false },
          { status: 201, claims: [claim("c1", "ann", { createdAt: 5, expiresAt: 1_005 })] },
        ),
      ],
      [],
      "fence",
    ],
    [
      "the second of the line first",
      [
        granted("c1", "ann", 0, 1),
        joined("c2", "bob", 100),
        joined("c3", "cy", 200),
        sees("c3", "cy", 1_100, 1_005, 2, 205),
        sees("c2", "bob", 2_100, 2_005, 3, 105),
      ],
      [],
      "inversion",
    ],
    [
      "a newcomer before the line",
      [
        granted("c1", "ann", 0, 1),
        joined("c2", "bob", 100),
        granted("c3", "cy", 1_010, 2),
        waits("c2", "bob", 1_100, 105),
      ],
      [],
      "inversion",
    ],
    [
      "a write with a lapsed claim, by its answer",
      [granted("c1", "ann", 0, 1), writes("ann", 2_000, done, "c1")],
      [],
      "lapsed",
    ],
    [
      "a write with a lapsed claim, by the log",
      [granted("c1", "ann", 0, 1)],
      [entry("ann", 1_050, { claim: "c1" })],
      "lapsed",
    ],
    [
      "a write with a released claim",
      [granted("c1", "ann", 0, 1), released("c1", "ann", 100), writes("ann", 200, done, "c1")],
      [],
      "lapsed",
    ],
    ["a write with another's claim", [granted("c1", "ann", 0, 1), writes("bob", 200, done, "c1")], [], "lapsed"],
    [
      "a write with another's claim, by the log",
      [granted("c1", "ann", 0, 1)],
      [entry("bob", 1_500, { claim: "c1" })],
      "lapsed",
    ],
    [
      "a write with a claim on another record",
      [granted("c1", "ann", 0, 1)],
      [entry("ann", 100, { claim: "c1", record: "other" })],
      "lapsed",
    ],
    ["a write with a made-up claim", [writes("bob", 200, done, "made-up")], [], "lapsed"],
    ["a write past a claim", [granted("c1", "ann", 0, 1)], [entry("bob", 500)], "trespass"],
    [
      "a deletion past a claim on a field",
      [granted("c1", "ann", 0, 1, { field: "b" })],
      [entry("bob", 500, { fields: null })],
      "trespass",
    ],
    [
      "a lapsed claim that is called a conflict",
      [granted("c1", "ann", 0, 1), writes("ann", 2_000, conflicted, "c1")],
      [],
      "unsaid",
    ],
    [
      "a refusal that does not say who holds it",
      [writes("ann", 2_000, { status: 409, code: "claim_conflict" })],
      [],
      "unsaid",
    ],
    ["a holder who is refused", [granted("c1", "ann", 0, 1), writes("ann", 200, conflicted)], [], "refused"],
    [
      "a holder whose claim is called lost",
      [granted("c1", "ann", 0, 1), writes("ann", 200, lost, "c1")],
      [],
      "refused",
    ],
    ["a release of another's claim", [granted("c1", "ann", 0, 1), released("c1", "bob", 100)], [], "stranger"],
    ["a fault of the server", [writes("ann", 200, { status: 500, code: "internal_error" })], [], "odd"],
  ])("%s", (_, calls, log, kind) => {
    expect(found(calls, log)).toEqual([kind]);
  });

  test("a silent waiter may be passed over, a live one may not", () => {
    const late = 60_000;
    const line = [
      granted("c1", "ann", late - 1_000, 1),
      joined("c2", "bob", 0),
      joined("c3", "cy", late - 500),
      sees("c3", "cy", late + 100, late + 5, 2, late - 495),
      waits("c2", "bob", late + 200, 5),
    ];
    expect(found(line)).toEqual([]);
    expect(found([...line, waits("c2", "bob", late - 5_000, 5)])).toEqual(["inversion"]);
  });
});

describe("random histories", () => {
  const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });

  test("a correct server produces no violations, whatever is lost", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        expect(check(imagine(seed)).violations).toEqual([]);
      }),
      { seed: 20_260_131, numRuns: 300 },
    );
  });

  test("each check had something to check", () => {
    const coverage = Array.from({ length: 20 }, (_, seed) => check(imagine(seed)).coverage);
    for (const key of ["granted", "pairs", "waiters", "underClaim", "lapsed", "byHolders"] as const)
      expect(coverage.reduce((sum, one) => sum + one[key], 0)).toBeGreaterThan(20);
  });

  const found: Readonly<Record<SyntheticBug, ViolationKind>> = {
    "grants what is held": "overlap",
    "accepts every write": "trespass",
    "promotes the last of the line": "inversion",
    "lets newcomers pass the line": "inversion",
    "gives the same fence twice": "fence",
    "ends leases early": "overlap",
    "ends leases late": "lapsed",
    "says conflict for a lapsed claim": "unsaid",
    "refuses its holders": "refused",
  };
  test.each(SYNTHETIC_BUGS)("the checker finds a server that %s", (bug) => {
    const kinds = Array.from({ length: 30 }, (_, seed) =>
      check(imagine(seed, { bug })).violations.map(({ kind }) => kind),
    );
    expect(kinds.filter((one) => one.includes(found[bug])).length).toBeGreaterThan(10);
  });
});
