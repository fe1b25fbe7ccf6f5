import type { LogEntry } from "@holdfast/sdk/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeEvidence, SYNTHETIC_BUGS, type SyntheticBug } from "../testing/synthetic-evidence.ts";
import type { Action, Endpoint, Evidence, Received, Trouble } from "./evidence.ts";
import { judgeDeliveries } from "./judge.ts";
import type { Coverage, ViolationKind } from "./violations.ts";

const ID = "we_1";
const EPOCH_MS = 1_700_000_000_000;

/** Slides at odd positions, documents at even ones. */
const log: readonly LogEntry[] = Array.from({ length: 200 }, (_, i) => ({
  object: "log_entry",
  syncId: i + 1,
  model: i % 2 === 0 ? "Slide" : "document",
  id: `r${i}`,
  verb: i % 5 === 4 ? "deleted" : "updated",
  data: i % 5 === 4 ? null : { id: `r${i}`, title: `t${i}` },
  changedFields: null,
  clientTxId: `c${i}`,
  clientId: null,
  transactionId: null,
  actor: "key",
  participantKind: "system",
  claim: null,
  createdAt: new Date(EPOCH_MS + i).toISOString(),
}));

interface Sent extends Partial<Received> {
  readonly revision?: number;
  readonly took?: number;
  readonly models?: readonly string[];
  readonly edit?: (events: Record<string, unknown>[]) => unknown;
}

let named = 0;
/** A request at a given time, with all events of a range. */
function sent(at: number, from: number, to: number, more: Sent = {}): Received {
  const { revision = 1, took = 10, models = ["Slide", "document"], edit, ...rest } = more;
  const events = log
    .filter(({ syncId, model }) => syncId >= from && syncId <= to && models.includes(model))
    .map(({ model, verb, id, data, syncId, createdAt, actor, participantKind }) => ({
      type: `${model.toLowerCase()}.${verb}`,
      model,
      objectId: id,
      data,
      syncId,
      id: String(syncId),
      createdAt,
      actor,
      participantKind,
    }));
  return {
    name: `q${++named}`,
    endpoint: ID,
    arrived: at,
    begun: at,
    ended: at + took,
    webhookId: `msg_${ID}_${revision}_${from}_${to}`,
    body: JSON.stringify({ data: edit?.(events) ?? events }),
    outcome: "accepted",
    signedBy: [0],
    ...rest,
  };
}

const failed = (at: number, from: number, to: number, more: Sent = {}): Received =>
  sent(at, from, to, { outcome: "failed", status: 500, ...more });

interface EvidenceParts {
  /** The log has 200 entries. */
  readonly head?: number;
  readonly endpoint?: Partial<Endpoint>;
  /** The server no longer lists it. */
  readonly removed?: true;
  readonly actions?: readonly Action[];
  readonly troubles?: readonly Trouble[];
  readonly rest?: Partial<Evidence>;
}

function evidence(
  requests: readonly Received[],
  { head = 10, endpoint, removed, actions = [], troubles = [], rest }: EvidenceParts = {},
): Evidence {
  return {
    log: log.slice(0, head),
    endpoints: [
      {
        id: ID,
        cursor: 0,
        models: ["*"],
        made: { asked: 0, answered: 1 },
        actions,
        ...(!removed && { last: { status: "enabled", cursor: head } }),
        ...endpoint,
      },
    ],
    requests,
    strays: [],
    troubles,
    times: {
      schedule: [0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000],
      requestMs: 400,
      rotationMs: 60_000,
      lateMs: 300,
      epochMs: EPOCH_MS,
    },
    ...rest,
  };
}

const found = (requests: readonly Received[], parts?: EvidenceParts): ViolationKind[] => [
  ...new Set(judgeDeliveries(evidence(requests, parts)).violations.map(({ kind }) => kind)),
];

const act = (what: "enable" | "disable" | "roll" | "remove" | "push" | "move", asked: number): Action => ({
  what,
  asked,
  answered: asked + 10,
});
const subscribe = (models: readonly string[], asked: number): Action => ({
  what: "subscribe",
  models,
  asked,
  answered: asked + 10,
});
const skip = (to: number, asked: number): Action => ({ what: "skip", to, asked, answered: asked + 10 });
const kill = (from: number, to = from + 500): Trouble => ({ what: "server killed", from, to });
const stop = (from: number, to = from + 2_000): Trouble => ({ what: "server stopped", from, to });

const large = (request: Received): Received => ({ ...request, body: request.body + " ".repeat(1_048_576) });

/** Attempts at one position, each at its scheduled time and with the correct batch size. */
function attempts(count: number, from: number, first: number, at = 100): Received[] {
  const waits = [0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000];
  let size = first;
  let time = at;
  return Array.from({ length: count }, (_, i) => {
    if (i >= 3) size = Math.ceil(size / 3);
    time += (waits[i] ?? 7_000) + (i === 0 ? 0 : 10);
    return failed(time, from, from + size - 1);
  });
}

type Story = [title: string, requests: readonly Received[], parts?: EvidenceParts];

describe("valid histories", () => {
  test.each<Story>([
    ["one batch after the other", [sent(100, 1, 4), sent(200, 5, 10)]],
    ["a retry with the same batch, and then the rest", [failed(100, 1, 4), sent(1_150, 1, 4), sent(1_300, 5, 10)]],
    [
      "a retry without the entries that came meanwhile, and one that grows by them after it",
      [failed(100, 1, 4), failed(1_150, 1, 4), sent(3_200, 1, 4), sent(3_300, 5, 10)],
    ],
    ["the same batch once more after a kill", [sent(100, 1, 10), sent(900, 1, 10)], { troubles: [kill(115)] }],
    ["the next one after a kill", [sent(100, 1, 4), sent(900, 5, 10)], { troubles: [kill(115)] }],
    [
      "the same once more when a kill took the first answer's effect, and its shrunk range went on behind it",
      [...attempts(3, 1, 9), sent(6_200, 1, 3), sent(6_900, 1, 3), sent(7_000, 4, 9), sent(7_100, 10, 10)],
      { troubles: [kill(6_215)] },
    ],
    [
      "the same once more, when it is unknown whether the sender had the answer",
      [sent(100, 1, 10, { outcome: "unknown" }), sent(700, 1, 10)],
    ],
    [
      "a batch that is cut from the third failure on",
      [
        ...attempts(5, 1, 100),
        sent(15_250, 1, 4),
        sent(15_300, 5, 12),
        sent(15_400, 13, 28),
        sent(15_500, 29, 60),
        sent(15_600, 61, 110),
      ],
      { head: 110 },
    ],
    [
      "eight attempts, silence, enabled, and all of it",
      [...attempts(8, 1, 100), sent(100_000, 1, 100)],
      { head: 100, actions: [act("enable", 99_900)] },
    ],
    ["eight attempts and silence", attempts(8, 1, 10), { endpoint: { last: { status: "disabled", cursor: 0 } } }],
    [
      "what is not subscribed to is passed over",
      [sent(100, 1, 5, { models: ["Slide"] }), sent(200, 7, 9, { models: ["Slide"] })],
      { endpoint: { models: ["Slide"] } },
    ],
    ["nothing is subscribed to", [], { endpoint: { models: ["page"] } }],
    [
      "another subscription takes what lies behind the cursor",
      [sent(100, 1, 5, { models: ["Slide"] }), sent(2_000, 6, 10, { models: ["document", "Slide"], revision: 2 })],
      { endpoint: { models: ["Slide"] }, actions: [subscribe(["*"], 1_000)] },
    ],
    [
      "another subscription comes when the cursor has passed what was not subscribed to",
      [sent(100, 1, 9, { models: ["Slide"] }), sent(2_000, 11, 12, { revision: 2 })],
      { head: 12, endpoint: { models: ["Slide"] }, actions: [subscribe(["*"], 1_000)] },
    ],
    [
      "one with the old subscription was on its way",
      [failed(1_000, 1, 9, { models: ["Slide"] }), sent(1_020, 2, 10, { models: ["document"], revision: 2 })],
      { endpoint: { models: ["Slide"] }, actions: [subscribe(["document"], 1_002)] },
    ],
    [
      "a failing batch grows when the subscription changed, under another revision",
      [failed(100, 1, 9, { models: ["Slide"] }), sent(400, 1, 10, { revision: 2 })],
      { endpoint: { models: ["Slide"] }, actions: [subscribe(["*"], 300)] },
    ],
    ["the same subscription again", [sent(100, 1, 4), sent(3_000, 5, 10)], { actions: [subscribe(["*"], 300)] }],
    [
      "the same once more under another revision, when one with the old one was on its way",
      [sent(320, 1, 10), sent(400, 1, 10, { revision: 2 })],
      { actions: [act("push", 300)] },
    ],
    [
      "a schema was pushed while a batch failed",
      [failed(100, 1, 4), sent(1_200, 1, 10, { revision: 2 })],
      { actions: [act("push", 300)] },
    ],
    ["the owner tries at once", [failed(100, 1, 10), sent(300, 1, 10)], { actions: [act("enable", 280)] }],
    ["what the owner skips does not come", [failed(100, 1, 4), sent(400, 4, 10)], { actions: [skip(3, 300)] }],
    [
      "disabled, and enabled again",
      [sent(100, 1, 4), sent(5_000, 5, 10)],
      { actions: [act("disable", 200), act("enable", 4_900)] },
    ],
    ["removed, with events that wait", [sent(100, 1, 4)], { actions: [act("remove", 200)], removed: true }],
    [
      "two on their way, one of them of a process that stands still",
      [sent(100, 1, 10, { outcome: "failed", took: 3_000 }), sent(1_600, 1, 10)],
      { troubles: [stop(120)] },
    ],
    [
      "Retry-After is followed up to twice the wait",
      [failed(100, 1, 10, { status: 429, retryAfterMs: 60_000 }), sent(2_150, 1, 10)],
    ],
    [
      "a shorter Retry-After changes nothing",
      [failed(100, 1, 10, { status: 429, retryAfterMs: 1 }), sent(1_150, 1, 10)],
    ],
    ["more than a mebibyte in one event", [large(sent(100, 1, 1)), sent(200, 2, 10)]],
    [
      "a test beside deliveries",
      [
        sent(100, 1, 10),
        sent(200, 0, 0, {
          webhookId: `msg_${ID}_test_x1`,
          body: JSON.stringify({
            data: [
              {
                type: "webhook_endpoint.test",
                model: "webhook_endpoint",
                objectId: ID,
                data: {},
                syncId: 10,
                id: "10",
                createdAt: "",
              },
            ],
          }),
        }),
      ],
    ],
    [
      "two secrets for a while after a roll, and then the new one alone",
      [sent(100, 1, 1), sent(2_000, 2, 2, { signedBy: [0, 1] }), sent(70_000, 3, 10, { signedBy: [1] })],
      { actions: [act("roll", 1_000)] },
    ],
    [
      "one that was rolled twice, and parts once",
      [sent(100, 1, 1), sent(4_000, 2, 10, { signedBy: [1] })],
      { actions: [{ what: "roll", asked: 1_000, answered: 1_500, lost: true }] },
    ],
    [
      "one that was rolled again after a roll that may have happened twice",
      [sent(100, 1, 1), sent(70_000, 2, 10, { signedBy: [2] })],
      { actions: [{ what: "roll", asked: 1_000, answered: 1_500, lost: true }, act("roll", 69_000)] },
    ],
    ["one that is signed while the secret is rolled", [sent(100, 1, 10)], { actions: [act("roll", 98)] }],
  ])("%s", (_, requests, parts) => {
    expect(judgeDeliveries(evidence(requests, parts)).violations).toEqual([]);
  });
});

const none: EvidenceParts = {};

describe("invalid histories", () => {
  test.each<[string, readonly Received[], EvidenceParts, readonly ViolationKind[]]>([
    ["an event never comes", [sent(100, 1, 9)], none, ["missing", "status"]],
    ["events are passed over", [sent(100, 1, 4), sent(200, 6, 10)], none, ["missing"]],
    ["an event in the middle is left out", [sent(100, 1, 10, { edit: (e) => e.toSpliced(4, 1) })], none, ["missing"]],
    ["the cursor moves before the 2xx", [failed(100, 1, 4), sent(1_150, 5, 10)], none, ["missing"]],
    [
      "too much is passed over that was not subscribed to",
      [sent(100, 1, 3, { models: ["Slide"] }), sent(200, 7, 9, { models: ["Slide"] })],
      { endpoint: { models: ["Slide"] } },
      ["missing"],
    ],
    ["what was accepted comes again", [sent(100, 1, 10), sent(200, 1, 10)], none, ["repeat"]],
    [
      "what was accepted comes again long after a kill",
      [sent(100, 1, 10), sent(9_000, 1, 10)],
      { troubles: [kill(8_000)] },
      ["repeat"],
    ],
    [
      "a kill lets the cursor fall back further than one batch",
      [sent(100, 1, 4), sent(200, 5, 10), sent(900, 1, 4), sent(950, 5, 10)],
      { troubles: [kill(215)] },
      ["repeat"],
    ],
    [
      "the same once more after a kill, under another range",
      [sent(100, 1, 5), sent(900, 1, 10)],
      { troubles: [kill(115)] },
      ["grown"],
    ],
    [
      "two events in the wrong order",
      [sent(100, 1, 10, { edit: (e) => [...e.slice(0, 1), ...e.slice(1, 3).reverse(), ...e.slice(3)] })],
      none,
      ["order"],
    ],
    [
      "a later batch before an earlier one",
      [sent(100, 5, 10), sent(200, 1, 4)],
      none,
      ["missing", "repeat", "order", "status"],
    ],
    ["a frozen batch grows", [failed(100, 1, 4), sent(1_150, 1, 10)], none, ["grown"]],
    ["a shrunk batch grows back at once", [...attempts(4, 1, 9), sent(10_270, 1, 9)], { head: 9 }, ["grown"]],
    [
      "it is cut too soon",
      [failed(100, 1, 9), sent(1_150, 1, 3), sent(1_200, 4, 9), sent(1_300, 10, 10)],
      none,
      ["cut"],
    ],
    ["it is never cut", [...attempts(3, 1, 9), sent(6_200, 1, 9), sent(6_300, 10, 10)], none, ["cut"]],
    [
      "a first batch after cut ones more than doubles",
      [...attempts(4, 1, 30), sent(10_270, 1, 4), sent(10_300, 5, 30)],
      { head: 30 },
      ["grown"],
    ],
    [
      "one name has two bodies",
      [failed(100, 1, 9, { edit: (e) => e.with(2, { ...e[2], objectId: "r0" }) }), sent(1_150, 1, 9)],
      { head: 9 },
      ["changed", "content"],
    ],
    [
      "a subscription changes and the revision does not",
      [failed(100, 1, 9), sent(400, 1, 9, { models: ["Slide"] })],
      { actions: [subscribe(["Slide"], 300)] },
      ["changed", "name"],
    ],
    [
      "it is moved and the revision stays",
      [failed(100, 1, 10), sent(1_150, 1, 10)],
      { actions: [act("move", 112)] },
      ["name"],
    ],
    [
      "a schema is pushed and the revision stays",
      [failed(100, 1, 10), sent(1_150, 1, 10)],
      { actions: [act("push", 112)] },
      ["name"],
    ],
    ["the revision grows without a reason", [failed(100, 1, 10), sent(1_150, 1, 10, { revision: 2 })], none, ["name"]],
    [
      "the name tells another range",
      [sent(100, 1, 10, { webhookId: `msg_${ID}_1_1_9` })],
      none,
      ["name", "foreign", "status", "missing"],
    ],
    [
      "the name is of another endpoint",
      [sent(100, 1, 10, { webhookId: "msg_we_2_1_1_10" })],
      none,
      ["name", "missing", "status"],
    ],
    ["it is for no endpoint", [sent(100, 1, 10), sent(200, 1, 1, { endpoint: "we_2" })], none, ["foreign"]],
    ["what was not subscribed to comes", [sent(100, 1, 9)], { endpoint: { models: ["Slide"] } }, ["foreign"]],
    [
      "a row says something else",
      [sent(100, 1, 10, { edit: (e) => e.with(2, { ...e[2], data: { id: "r2", title: "x" } }) })],
      none,
      ["content"],
    ],
    [
      "the keys of a row are in another order",
      [sent(100, 1, 10, { edit: (e) => e.with(2, { ...e[2], data: { title: "t2", id: "r2" } }) })],
      none,
      ["content"],
    ],
    [
      "a deleted row is parts",
      [sent(100, 1, 10, { edit: (e) => e.with(4, { ...e[4], data: { id: "r4" } }) })],
      none,
      ["content"],
    ],
    [
      "the model is not as declared",
      [sent(100, 1, 10, { edit: (e) => e.with(0, { ...e[0], model: "slide" }) })],
      none,
      ["content"],
    ],
    [
      "the type is not in lower case",
      [sent(100, 1, 10, { edit: (e) => e.with(0, { ...e[0], type: "Slide.updated" }) })],
      none,
      ["content"],
    ],
    [
      "an event has more keys",
      [sent(100, 1, 10, { edit: (e) => e.with(0, { ...e[0], secret: "key" }) })],
      none,
      ["content", "missing"],
    ],
    ["another actor", [sent(100, 1, 10, { edit: (e) => e.with(0, { ...e[0], actor: "another" }) })], none, ["content"]],
    [
      "another time",
      [sent(100, 1, 10, { edit: (e) => e.with(0, { ...e[0], createdAt: "2020-01-01T00:00:00.000Z" }) })],
      none,
      ["content"],
    ],
    ["a body is no JSON", [sent(100, 1, 10, { body: "{" })], none, ["content", "missing"]],
    ["a body has further keys", [sent(100, 1, 10, { body: '{"data":[],"more":1}' })], none, ["content", "missing"]],
    ["101 events", [sent(100, 1, 101)], { head: 101 }, ["size", "grown"]],
    ["more than a mebibyte", [large(sent(100, 1, 10))], none, ["size"]],
    ["two at once", [sent(100, 1, 10, { outcome: "failed", took: 3_000 }), sent(1_600, 1, 10)], none, ["overlap"]],
    [
      "two at once, one of which began while another process stood still",
      [failed(100, 1, 10, { took: 4_000 }), failed(1_600, 1, 10, { took: 3_000 }), sent(2_900, 1, 10)],
      { troubles: [stop(150)] },
      ["overlap"],
    ],
    [
      "two at once of two live processes, though one stood still long before",
      [sent(5_100, 1, 10, { outcome: "failed", took: 3_000 }), sent(6_600, 1, 10)],
      { troubles: [stop(100)] },
      ["overlap"],
    ],
    ["a retry before its time", [failed(100, 1, 10), sent(900, 1, 10)], none, ["early"]],
    [
      "a retry with the wait of the one before",
      [failed(100, 1, 10), failed(1_150, 1, 10), sent(2_200, 1, 10)],
      none,
      ["early"],
    ],
    ["Retry-After is not heard", [failed(100, 1, 10, { retryAfterMs: 60_000 }), sent(1_150, 1, 10)], none, ["early"]],
    ["a retry after its time", [failed(100, 1, 10), sent(1_600, 1, 10)], none, ["late"]],
    [
      "Retry-After is followed too far",
      [failed(100, 1, 10, { retryAfterMs: 60_000 }), sent(2_800, 1, 10)],
      none,
      ["late"],
    ],
    [
      "a ninth attempt",
      [...attempts(8, 1, 10), failed(100_000, 1, 1)],
      { endpoint: { last: { status: "disabled", cursor: 0 } } },
      ["ninth"],
    ],
    [
      "a request while it is disabled",
      [sent(100, 1, 4), sent(5_000, 5, 10)],
      { actions: [act("disable", 200)] },
      ["silence"],
    ],
    [
      "a request after it was removed",
      [sent(100, 1, 4), sent(5_000, 5, 10)],
      { actions: [act("remove", 200)] },
      ["silence"],
    ],
    [
      "what the owner skipped comes",
      [failed(100, 1, 4), sent(3_000, 1, 4), sent(3_100, 5, 10)],
      { actions: [skip(3, 300)] },
      ["repeat"],
    ],
    ["a redirect is followed", [sent(100, 1, 10)], { rest: { strays: ["POST /elsewhere"] } }, ["stray"]],
    ["it has no signature", [sent(100, 1, 10, { signedBy: [] })], none, ["signature"]],
    [
      "the old secret alone after a roll",
      [sent(100, 1, 1), sent(4_000, 2, 10)],
      { actions: [act("roll", 1_000)] },
      ["signature"],
    ],
    [
      "the new secret alone after a roll",
      [sent(100, 1, 1), sent(4_000, 2, 10, { signedBy: [1] })],
      { actions: [act("roll", 1_000)] },
      ["signature"],
    ],
    [
      "the old secret too, long after a roll",
      [sent(100, 1, 1), sent(90_000, 2, 10, { signedBy: [0, 1] })],
      { actions: [act("roll", 1_000)] },
      ["signature"],
    ],
    [
      "its cursor is not where its deliveries are",
      [sent(100, 1, 10)],
      { endpoint: { last: { status: "enabled", cursor: 4 } } },
      ["status"],
    ],
    [
      "a test says something else",
      [sent(100, 1, 10), sent(200, 1, 1, { webhookId: `msg_${ID}_test_x1` })],
      none,
      ["content"],
    ],
  ])("%s", (_, requests, parts, kinds) => {
    expect(found(requests, parts).toSorted()).toEqual(kinds.toSorted());
  });
});

describe("random histories", () => {
  const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });

  test("a correct sender produces no violations, whatever fails and whatever its owner changes", () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        expect(judgeDeliveries(makeEvidence(seed)).violations).toEqual([]);
      }),
      { seed: 20_260_131, numRuns: 60 },
    );
  });

  test("each check had something to check", () => {
    const looked = Array.from({ length: 20 }, (_, seed) => judgeDeliveries(makeEvidence(seed)).coverage);
    const sum = (key: keyof Coverage) => looked.reduce((total, one) => total + one[key], 0);
    for (const key of ["accepted", "repeats", "shrunk", "waits", "waitsAbove", "unsubscribed", "sameNames"] as const)
      expect(sum(key), key).toBeGreaterThan(20);
    for (const key of ["exhausted", "doubleSignatures", "afterRotation"] as const)
      expect(sum(key), key).toBeGreaterThan(1);
  });

  const finds: Readonly<Record<SyntheticBug, ViolationKind>> = {
    "moves before the answer": "missing",
    "does not move": "repeat",
    "grows a frozen batch": "grown",
    "never cuts": "cut",
    "cuts at once": "cut",
    "forgets the lease": "overlap",
    "skips too far over what is not subscribed to": "missing",
    "sends what is not subscribed to": "foreign",
    "begins the attempts anew at each failure": "early",
    "comes back at once": "early",
    "comes back late": "late",
    "goes on after the last attempt": "ninth",
    "goes on while disabled": "silence",
    "keeps the revision when the subscription changes": "name",
    "keeps the name when the subscription changes": "name",
    "swaps two events": "order",
    "tells other content": "content",
    "sends too many": "size",
    "signs with the old secret alone": "signature",
    "signs with the old secret for ever": "signature",
    "signs with the new secret alone": "signature",
    "signs something else": "signature",
    "stops before the end": "missing",
    "ignores Retry-After": "early",
  };
  /** It takes a receiver that fails eight times in a row. */
  const rare: readonly SyntheticBug[] = ["goes on after the last attempt", "signs with the old secret for ever"];
  test.each(SYNTHETIC_BUGS)("the checker finds a server that %s", (bug) => {
    const [steps, often] = rare.includes(bug) ? [250, 1] : [120, 4];
    let found = 0;
    for (let seed = 0; seed < 16 && found < often; seed++)
      if (judgeDeliveries(makeEvidence(seed, { bug, steps })).violations.some(({ kind }) => kind === finds[bug]))
        found += 1;
    expect(found).toBe(often);
  });
});
