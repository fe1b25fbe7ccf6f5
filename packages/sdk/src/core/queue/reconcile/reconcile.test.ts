import { describe, expect, test } from "vitest";
import { initialState, type QueueSnapshot, type SharedQueue } from "../../state.ts";
import {
  asKept,
  type ExpectedSlot,
  expectedSlot,
  type Mutation,
  type Put,
  type Removed,
  type Stage,
} from "../mutation.ts";
import { emptyQueue, inOrder, withMutations } from "../queue.ts";
import type { QueueFacts, QueueView } from "./queue-view.ts";
import { isBehind, type QueueMessage, reconcile, reloadDueAt } from "./reconcile.ts";
import { seqSetUpTo } from "./seq-set.ts";

const nothing = initialState({ schema: { models: {} }, paused: false, sendAtMost: 1 }).shared;
const follower: QueueFacts = {
  now: 0,
  lead: "no",
  storageTrouble: undefined,
  rows: { logId: "log_1", position: 0 },
};
const leader: QueueFacts = { ...follower, lead: "yes" };

function write(clientTxId: string, seq?: number, phase: "queued" | "saving" = "queued"): Mutation {
  const stage: Stage = { phase };
  const keys = [`slide/${clientTxId}`];
  const body = { operations: [], reads: [], body: clientTxId, bytes: 1, createdAt: 0 };
  return { ...body, clientTxId, seq, keys, owner: null, attempts: 0, echoed: [], stage };
}

/** The view of a tab that knows these writes, numbered from 1, and nothing else. */
const knowing = (names: readonly string[], more: Partial<SharedQueue> = {}): QueueView => ({
  ...nothing,
  seqs: seqSetUpTo(names.length),
  ...more,
  queue: withMutations(
    emptyQueue,
    names.map((name, i) => write(name, i + 1)),
  ),
});

/** Lets the tab apply the messages in turn. */
function apply(view: QueueView, messages: readonly QueueMessage[], facts = follower) {
  const effects: string[] = [];
  for (const message of messages) {
    const next = reconcile(view, message, facts);
    effects.push(...next.effects.map((e) => ("news" in e ? `${e.clientTxId} ${e.news.kind}` : e.do)));
    view = next.view;
  }
  return { view, effects, names: [...inOrder(view.queue)].map((m) => m.clientTxId) };
}

const UPDATE = {
  ...({ action: "update", model: "slide", id: "a", onStale: "notify" } as const),
  ...{ data: { title: "mine" }, base: { title: "seen" } },
};
const NOTICE = {
  ...({ object: "stale_notification", model: "slide", id: "a", writtenBy: "user:ben", readAt: 1 } as const),
  ...{ observedSyncId: 2, conflictingFields: ["title"], currentValues: { title: "theirs" } },
};
const CONFLICT = { phase: "conflicted", conflictedAfter: 1 } as const;

const arrived = (...mutations: Mutation[]): QueueMessage => ({ type: "arrived", mutations });
const changed = (change: number, put: readonly Put[], removed: readonly Removed[] = []): QueueMessage => ({
  type: "changed",
  change,
  put,
  removed,
});
/** Puts another write into the slot. */
const replaced = (seq: number, from: string, to: string): Put => ({
  mutation: write(to, seq),
  over: { clientTxId: from, seq, phase: "queued" },
});
const slot = (seq: number, clientTxId: string): Removed => ({ clientTxId, seq });
const snapshotOf = (mutations: readonly Mutation[], changes = 0, lastSeq = mutations.length): QueueSnapshot => ({
  ...{ mutations: mutations.map(asKept), changes, lastSeq },
  ...{ generation: 1, rows: undefined },
});
const reloaded = (snapshot: QueueSnapshot | undefined): QueueMessage => ({ type: "queueRead", snapshot });
const due = { type: "due" } as const;
const at = (now: number, facts = follower): QueueFacts => ({ ...facts, now });

describe("[Q35] messages that arrive complete bring the view up to date without a reload, in whatever order", () => {
  const orders: readonly (readonly [string, readonly QueueMessage[], readonly string[]])[] = [
    ["writes", [arrived(write("a", 1)), arrived(write("b", 2))], ["a", "b"]],
    ["a later write first", [arrived(write("b", 2)), arrived(write("a", 1))], ["a", "b"]],
    ["a write twice", [arrived(write("a", 1)), arrived(write("a", 1))], ["a"]],
    ["a replacement", [arrived(write("a", 1)), changed(1, [replaced(1, "a", "a2")])], ["a2"]],
    ["a replacement before its write", [changed(1, [replaced(1, "a", "a2")]), arrived(write("a", 1))], ["a2"]],
    ["a removal before its write", [changed(1, [], [slot(1, "a")]), arrived(write("a", 1))], []],
    [
      "changes in order",
      [arrived(write("a", 1)), changed(1, [replaced(1, "a", "a2")]), changed(2, [replaced(1, "a2", "a3")])],
      ["a3"],
    ],
    [
      "changes in another order",
      [arrived(write("a", 1)), changed(2, [replaced(1, "a2", "a3")]), changed(1, [replaced(1, "a", "a2")])],
      ["a3"],
    ],
  ];
  test.each(orders)("%s", (_, messages, names) => {
    const after = apply(knowing([]), messages);
    expect(after.names).toEqual(names);
    expect(isBehind(after.view)).toBe(false);
    expect(after.effects).not.toContain("readQueue");
  });
});

describe("[Q35] [Q63] a tab that misses a message notices it, and reloads when it has not come in time", () => {
  const gaps: readonly (readonly [string, QueueMessage])[] = [
    ["a write before this one", arrived(write("c", 3))],
    ["a change before this one", changed(2, [replaced(1, "a", "a2")])],
    ["another tab knows more writes", { type: "numbers", numbers: { lastSeq: 2, changes: 0 } }],
    ["another tab knows more changes", { type: "numbers", numbers: { lastSeq: 0, changes: 1 } }],
  ];
  test.each(gaps)("%s", (_, message) => {
    const { view } = apply(knowing(["a"]), [message, due]);
    expect(isBehind(view)).toBe(true);
    expect(reloadDueAt(view)).toBe(1_000);
    expect(apply(view, [due], at(999)).effects).not.toContain("readQueue");
    const late = apply(view, [due], at(1_000));
    expect(late.effects).toContain("readQueue");
    expect(late.view.reloads).toBe(1);
  });

  test("a leader, which sends nothing meanwhile, waits for 50 ms only", () => {
    expect(reloadDueAt(apply(knowing([]), [arrived(write("b", 2)), due], leader).view)).toBe(50);
  });

  test("a tab that receives the missing write in time does not reload", () => {
    const { view } = apply(knowing([]), [arrived(write("b", 2)), due, arrived(write("a", 1)), due]);
    expect(reloadDueAt(view)).toBeUndefined();
  });

  test("a tab that has lost the disk does not reload", () => {
    const trouble = { ...follower, storageTrouble: { code: "failed", reason: "" } };
    expect(
      apply(knowing([]), [arrived(write("b", 2)), { type: "reload", rows: "all" }], trouble).effects,
    ).not.toContain("readQueue");
  });
});

test("[Q35] [Q64] a leader looks three times for a write that a killed tab has announced, and a follower leaves that to it", () => {
  const times: number[] = [];
  let { view } = apply(knowing([]), [{ type: "writing", clientTxIds: ["a"] }], leader);
  for (let next = reloadDueAt(view); next !== undefined; next = reloadDueAt(view)) {
    times.push(next);
    ({ view } = apply(view, [due, reloaded(snapshotOf([]))], at(next, leader)));
  }
  expect(times).toEqual([2_000, 12_000, 62_000]);
  const { effects } = apply(knowing([]), [{ type: "writing", clientTxIds: ["a"] }, due], at(2_000));
  expect(effects).toEqual([]);
});

test("[Q35] [Q64] a write that was announced and has arrived is not looked for", () => {
  const { view } = apply(knowing([]), [{ type: "writing", clientTxIds: ["a"] }, arrived(write("a", 1))], leader);
  expect(reloadDueAt(view)).toBeUndefined();
});

describe("[Q35] a reload replaces the view by the snapshot", () => {
  const stored = (...names: string[]) => names.map((name, i) => write(name, i + 1));
  const snapshots: readonly (readonly [string, QueueView, QueueSnapshot, readonly string[], readonly string[]])[] = [
    ["it adds what was missed", knowing(["a"]), snapshotOf(stored("a", "b")), ["a", "b"], []],
    ["it removes what has left the disk", knowing(["a", "b"]), snapshotOf([write("a", 1)], 1, 2), ["a"], []],
    ["it follows a write to its new name", knowing(["a"]), snapshotOf(stored("a2"), 1), ["a2"], ["a renamed"]],
    [
      "a write that has settled here is not added again",
      knowing([], { seqs: seqSetUpTo(1), settled: [slot(1, "a")] }),
      snapshotOf(stored("a")),
      [],
      [],
    ],
    ["a write that was stored after the snapshot stays", knowing(["a", "b"]), snapshotOf(stored("a")), ["a", "b"], []],
  ];
  test.each(snapshots)("%s", (_, view, snapshot, names, news) => {
    const after = apply({ ...view, reloads: 1 }, [reloaded(snapshot)]);
    expect(after.names).toEqual(names);
    expect(after.effects.filter((effect) => effect.includes(" "))).toEqual(news);
    expect(after.view.changes).toBe(snapshot.changes);
    expect(after.view.reloads).toBe(0);
    expect(isBehind(after.view)).toBe(false);
  });

  const [gone, other] = [{ "slide/gone": { title: "a" } }, { "slide/other": { title: "b" } }];
  test.each<[string, QueueFacts, Mutation["lost"], Mutation["lost"], Mutation["lost"]]>([
    ["a tab that dropped the values of a record takes those that the leader has kept", follower, {}, gone, gone],
    ["a tab takes what the leader says, also if that is less", follower, { ...gone, ...other }, gone, gone],
    ["a tab forgets what the leader has removed", follower, gone, {}, {}],
    ["a tab keeps what the leader has not", follower, gone, undefined, gone],
    [
      "a tab that begins to lead takes what the leader before it has kept",
      { ...leader, lead: "reading" },
      {},
      gone,
      gone,
    ],
    ["a leader takes back nothing that it has dropped", leader, {}, gone, {}],
    ["a leader takes what it knows nothing of", leader, undefined, gone, gone],
  ])("[N46] [ER12] [ER19] %s", (_, facts, own, found, expected) => {
    const mine = { ...write("a", 1), lost: own };
    const view = { ...knowing([]), reloads: 1, queue: withMutations(emptyQueue, [mine]) };
    const after = apply(view, [reloaded(snapshotOf([{ ...write("a", 1), lost: found }]))], facts);
    expect([...inOrder(after.view.queue)].map(({ lost }) => lost)).toEqual([expected]);
  });

  test.each<[string, Partial<Mutation>, boolean]>([
    ["what its author saw", { operations: [{ ...UPDATE, base: null }] }, true],
    ["what the server reported", { stage: { ...CONFLICT, notifications: [{ ...NOTICE, currentValues: {} }] } }, true],
    ["nothing", {}, false],
    ["what belongs to another outcome", { operations: [{ ...UPDATE, base: null }], stage: { phase: "queued" } }, false],
  ])(
    "[ER12] [ER19] a tab takes its outcome from disk if the leader has removed values from the write: %s",
    (_, less, isTaken) => {
      const own: Mutation = { ...write("a", 1), operations: [UPDATE], stage: { ...CONFLICT, notifications: [NOTICE] } };
      const found = { ...own, stage: { ...own.stage }, ...less } as Mutation;
      const view = { ...knowing([]), reloads: 1, queue: withMutations(emptyQueue, [own]) };
      const [now] = [...inOrder(apply(view, [reloaded(snapshotOf([found]))]).view.queue)];
      expect(now?.stage).toEqual(isTaken ? found.stage : own.stage);
      expect(now?.stage === own.stage).toBe(!isTaken);
    },
  );

  test("a snapshot that is older than the changes known here is read again, and changes nothing", () => {
    const after = apply(knowing(["a"], { changes: 2, reloads: 1 }), [reloaded(snapshotOf([], 1))]);
    expect(after.names).toEqual(["a"]);
    expect(after.effects).toEqual(["readQueue"]);
    expect(after.view.reloads).toBe(1);
  });

  test("messages during a reload are left to it, and to the next one", () => {
    const during = apply(knowing(["a"]), [{ type: "reload", rows: "further" }, arrived(write("b", 2))]);
    expect(during.names).toEqual(["a"]);
    const after = apply(during.view, [reloaded(snapshotOf([write("a", 1)]))]);
    expect(isBehind(after.view)).toBe(true);
  });

  test("a tab whose disk fails meanwhile asks the server for the outcomes", () => {
    const after = apply(knowing(["a"], { reloads: 1 }), [reloaded(undefined)]);
    expect(after.names).toEqual(["a"]);
    expect(after.effects).toEqual(["lookUpOutcomes"]);
  });
});

describe("[Q34] a write that this tab is storing in the slot of another one", () => {
  const onItsWay: QueueView = {
    ...knowing([]),
    seqs: seqSetUpTo(1),
    queue: withMutations(emptyQueue, [write("mine", 1, "saving")]),
  };
  const over: ExpectedSlot | undefined = expectedSlot(write("a", 1));
  const put = [{ mutation: write("mine", 1), over }];

  test("is not replaced by a change of another tab", () => {
    expect(apply(onItsWay, [changed(1, [replaced(1, "mine", "theirs")])]).names).toEqual(["mine"]);
  });

  test("keeps its slot from a change to the write that it replaces, also during a reload", () => {
    const reloading = apply({ ...onItsWay, seqs: { upTo: 0, ahead: [1] } }, [{ type: "reload", rows: "further" }]);
    expect(apply(reloading.view, [changed(1, [{ mutation: write("a", 1) }])]).names).toEqual(["mine"]);
  });

  test("is not removed by a snapshot that does not contain it", () => {
    expect(apply(onItsWay, [reloaded(snapshotOf([write("a", 1)]))]).names).toEqual(["mine"]);
  });

  test("is queued once the disk has it, and ends the wait for the write that it replaces", () => {
    const after = apply(onItsWay, [{ type: "stored", done: [{ put, drop: [] }], change: 1 }]);
    expect([...inOrder(after.view.queue)].map(({ stage }) => stage.phase)).toEqual(["queued"]);
    expect(after.effects.filter((effect) => effect.includes(" "))).toEqual(["a renamed", "mine queued"]);
    expect(after.view.changes).toBe(1);
  });

  test("is taken back if the disk refuses it, and the queue is reloaded", () => {
    const after = apply(onItsWay, [{ type: "refused", refused: [{ put, drop: [] }] }]);
    expect(after.names).toEqual([]);
    expect(after.effects).toEqual(expect.arrayContaining(["mine not-durable", "mine failed", "readQueue"]));
  });
});

test("[Q47] a write whose text stays is shown until the disk is read, if the disk refuses what was noted of it", () => {
  const put = [{ mutation: write("a", 1), over: expectedSlot(write("a", 1)) }];
  const after = apply(knowing(["a"]), [{ type: "refused", refused: [{ put, drop: [] }] }]);
  expect(after.names).toEqual(["a"]);
  expect(after.effects).toContain("readQueue");
});

test("[Q34] nothing is sent while a decision that deletes a write is being stored, and its end is counted once", () => {
  const drop = [{ ...slot(1, "a"), phase: "queued" as const }];
  const { view } = apply(knowing(["a"], { dropping: 1 }), [{ type: "stored", done: [{ put: [], drop }], change: 1 }]);
  expect(view.dropping).toBe(0);
  expect([...inOrder(view.queue)]).toEqual([]);
});

test("[Q35] a message that brings nothing new leaves the view as it is", () => {
  const view = knowing(["a"], { changes: 1 });
  expect(apply(view, [due, changed(1, [])]).view).toBe(view);
});
