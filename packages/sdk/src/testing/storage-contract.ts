import type { ExpectedSlot, Mutation, QueueChange, Slot } from "../core/queue/mutation.ts";
import type { Storage, StoredPage } from "../engine/ports.ts";

export interface StorageCheck {
  /** What has to be so. */
  readonly rule: string;
  /** `open` gives a handle on the same store each time, as a reload or a second tab would. Throws when it is not so. */
  check(open: () => Promise<Storage>): Promise<void>;
}

/** What any storage must do. Run it against yours: for each, a fresh store. */
export const storageContract: readonly StorageCheck[] = [
  {
    rule: "writes come back in the order in which they were made, byte for byte",
    async check(open) {
      const storage = await opened(open);
      await storage.enqueue([added(write("a"), write("b"))]);
      await storage.enqueue([added(write("c"))]);
      const { mutations } = await (await open()).open("c");
      same(
        mutations.map((m) => [m.clientTxId, m.body, m.stage.phase]),
        [
          ["a", bodyOf("a"), "queued"],
          ["b", bodyOf("b"), "queued"],
          ["c", bodyOf("c"), "queued"],
        ],
      );
    },
  },
  {
    rule: "a place is given once: not again after its write was forgotten, not twice for two tabs",
    async check(open) {
      const [one, two] = [await opened(open), await opened(open)];
      const [a] = await enqueued(one, "a");
      await one.enqueue([{ put: [], drop: [{ ...a, phase: "queued" }] }]);
      const both = await Promise.all([enqueued(one, "b"), enqueued(two, "c")]);
      const seqs = [a, ...both.flat()].map((p) => p.seq);
      same(new Set(seqs).size, 3);
      if (seqs.some((seq) => seq < (seqs[0] ?? 0))) throw new Error(`A later write took an earlier place: ${seqs}.`);
    },
  },
  {
    rule: "every shape of JSON, and a body of any letters, comes back as it was",
    async check(open) {
      const data = {
        text: 'ä😀\u2028 "\\',
        list: [1, [null, { deep: [] }]],
        none: null,
        zero: 0,
        no: false,
        big: 2 ** 53 - 1,
        f: 1e-7,
      };
      const storage = await opened(open);
      const operations = [{ action: "update", model: "slide", id: "s1", data, onStale: "notify", base: data } as const];
      await storage.enqueue([added({ ...write("a"), operations, body: JSON.stringify(data) })]);
      const [back] = (await storage.readQueue()).mutations;
      same(back?.operations, operations);
      same(back?.body, JSON.stringify(data));
    },
  },
  {
    rule: "a write that takes the place of another stands there, under the number of that change",
    async check(open) {
      const storage = await opened(open);
      const [a] = await enqueued(storage, "a", "b");
      same(await storage.enqueue([instead(a, "a2")]), { places: [[a.seq]], change: 1 });
      const { mutations, changes, lastSeq } = await (await open()).open("c");
      same([mutations.map((m) => m.clientTxId), changes, lastSeq], [["a2", "b"], 1, a.seq + 1]);
    },
  },
  {
    rule: "what belongs together happens as a whole, or not at all where a place holds something else",
    async check(open) {
      const storage = await opened(open);
      const [a, b, c] = await enqueued(storage, "a", "b", "c");
      const other = { clientTxId: "other", seq: c.seq, phase: "queued" } as const;
      const refused: QueueChange = { put: instead(a, "a2").put, drop: [other] };
      const done: QueueChange = { put: instead(b, "b2").put, drop: [standingAt(c)] };
      same(await storage.enqueue([refused, done]), { places: ["refused", [b.seq]], change: 1 });
      // Another stage than was expected is another write, too.
      const rejected: QueueChange = {
        put: [{ mutation: { ...write("a3"), seq: a.seq }, over: { ...a, phase: "rejected" } }],
        drop: [],
      };
      same(await storage.enqueue([rejected]), { places: ["refused"] });
      const look = await storage.readQueue();
      same([look.mutations.map((m) => m.clientTxId), look.changes], [["a", "b2"], 1]);
    },
  },
  {
    rule: "changes are counted over all tabs, new writes are not, and the last place is known when its write is gone",
    async check(open) {
      const [one, two] = [await opened(open), await opened(open)];
      const [a, b] = await enqueued(one, "a", "b");
      const { generation, changes: none, lastSeq: last } = await two.takeLead();
      same([none, last], [0, b.seq]);
      same(await two.forget([b], generation), { change: 1 });
      same((await one.enqueue([instead(a, "a2")])).change, 2);
      same(await two.keep([], generation), {});
      same(await two.keep([{ ...write("a2"), seq: a.seq, stage: REJECTED }], generation), { change: 3 });
      same((await enqueued(one, "d")).length, 1);
      const { changes, lastSeq } = await one.readQueue();
      same([changes, lastSeq > b.seq], [3, true]);
    },
  },
  {
    rule: "rows are looked at where they have read further than what was seen, or another log",
    async check(open) {
      const { storage, generation } = await leading(open);
      const rowsFor = async (logId: string, position: number) =>
        (await storage.readQueue({ logId, position })).rows?.position;
      same(await rowsFor("log", 1), undefined);
      await storage.keepPage(page(5, ["s1"]), generation);
      same([await rowsFor("log", 4), await rowsFor("log", 5), await rowsFor("other", 9)], [5, undefined, 5]);
      same([(await storage.readQueue()).rows?.position, (await storage.takeLead()).rows?.tables.slide?.size], [5, 1]);
    },
  },
  {
    rule: "with the rows is kept under which of the server's changes and views they were read, whole or in part",
    async check(open) {
      const { storage, generation } = await leading(open);
      const seen = { rowsVersion: 3, viewHash: "view" };
      await storage.keepPage({ ...page(5, ["s1"]), ...seen, cursor: "more" }, generation);
      const { partial } = await (await open()).open("c");
      same([partial?.rowsVersion, partial?.viewHash], [3, "view"]);
      await storage.keepPage({ ...page(5, ["s2"]), ...seen, first: false }, generation);
      await storage.keepRows({ logId: "log", ...seen, from: 5, to: 6, changes: [], settled: [] }, generation);
      const { rows } = await (await open()).open("c");
      same([rows.rowsVersion, rows.viewHash, rows.position], [3, "view", 6]);
      await storage.keepPage(page(7, ["s1"]), generation);
      const { rows: later } = await (await open()).open("c");
      same([later.rowsVersion ?? null, later.viewHash ?? null], [null, null]);
    },
  },
  {
    rule: "rows that were read for another scope are not continued",
    async check(open) {
      const { storage, generation } = await leading(open);
      await storage.keepPage({ ...page(5, ["s1"]), scope: "slides" }, generation);
      const range = { logId: "log", from: 5, to: 6, changes: [], settled: [] };
      const keptFor = async (scope?: string) => storage.keepRows({ ...range, scope }, generation);
      same([await keptFor(), await keptFor("notes"), await keptFor("slides")], ["gap", "gap", {}]);
      const { rows } = await (await open()).open("c");
      same([rows.scope, rows.position], ["slides", 6]);
    },
  },
  {
    rule: "rows of further parts are added with the scope that has them, at the position of the others",
    async check(open) {
      const { storage, generation } = await leading(open);
      await storage.keepPage({ ...page(5, ["s1", "s2"]), scope: "one" }, generation);
      const { changes } = page(5, ["s3"]);
      const gone = { record: { model: "slide", id: "s2" }, value: undefined };
      const range = { logId: "log", from: 5, to: 5, changes: [...changes, gone], settled: [] };
      const added = { ...range, scope: "two", was: "one" };
      same(await storage.keepRows({ ...added, was: "other" }, generation), "gap");
      same(await storage.keepRows(added, generation), {});
      same(await storage.keepRows(added, generation), "gap");
      same(await storage.keepRows({ ...range, changes: [], to: 6, scope: "two" }, generation), {});
      const { rows } = await (await open()).open("c");
      same([rows.scope, rows.position], ["two", 6]);
      same([...(rows.tables.slide?.entries() ?? [])].map(([id]) => id).sort(), ["s1", "s3"]);
    },
  },
  {
    rule: "what became of a write is kept, unless the write is gone",
    async check(open) {
      const storage = await opened(open);
      const places = await enqueued(storage, "a", "b");
      const rejected = places.map(({ clientTxId, seq }): Mutation => ({ ...write(clientTxId), seq, stage: REJECTED }));
      await storage.enqueue([{ put: [], drop: [standingAt(places[0])] }]);
      const { generation } = await storage.takeLead();
      same(await storage.keep(rejected, generation), { change: 2 });
      const { mutations } = await (await open()).open("c");
      same(
        mutations.map((m) => [m.clientTxId, m.stage]),
        [["b", REJECTED]],
      );
    },
  },
  {
    rule: "the client's name is made once",
    async check(open) {
      const first = await (await open()).open("first");
      const second = await (await open()).open("second");
      same([first.clientId, second.clientId], ["first", "first"]);
    },
  },
  {
    rule: "a store has one owner, once and for all, remembers that another one asked for it, and of a store that was destroyed nothing is left",
    async check(open) {
      const storage = await open();
      same((await storage.open("c")).owner, undefined);
      same([await storage.own("user:ann"), await storage.own("user:ann")], ["user:ann", "user:ann"]);
      same((await (await open()).open("c")).others ?? false, false);
      same(await storage.own("user:ben"), "user:ann");
      // An older version of this package kept the participant without the tenant.
      same(
        [await storage.own("o/live/user/ann", "user:ann"), await storage.own("user:ann")],
        Array(2).fill("o/live/user/ann"),
      );
      await storage.keepRecordBytes(1_024);
      const owned = await (await open()).open("c");
      same([owned.owner, owned.others, owned.recordBytes], ["o/live/user/ann", true, 1_024]);
      await storage.keepRecordBytes(undefined);
      same((await (await open()).open("c")).recordBytes, undefined);
      await storage.keepRecordBytes(2_048);
      await enqueued(storage, "a");
      const { generation } = await storage.takeLead();
      await storage.keepPage(page(5, ["s1"]), generation);
      await storage.destroy();
      const { clientId, owner, others = false, recordBytes, rows, mutations } = await (await open()).open("other");
      same([others, owner, recordBytes], [false, undefined, undefined]);
      same({ clientId, rows, mutations }, { clientId: "other", rows: { tables: {} }, mutations: [] });
    },
  },
  {
    rule: "rows and their position are kept together, with what they settled",
    async check(open) {
      const storage = await opened(open);
      const settled = await enqueued(storage, "a");
      const { generation } = await storage.takeLead();
      await storage.keepPage(page(5, ["s1", "s2"]), generation);
      const changes = [
        { record: { model: "Slide", id: "s1" }, value: undefined },
        { record: { model: "Slide", id: "s3" }, value: row("s3", 7) },
      ];
      same(await storage.keepRows({ logId: "log", from: 5, to: 7, changes, settled }, generation), { change: 1 });
      same((await storage.readQueue()).rows?.position, 7);
      const stored = await (await open()).open("c");
      same([stored.rows.logId, stored.rows.position, stored.mutations.length], ["log", 7, 0]);
      same([...(stored.rows.tables.slide?.entries() ?? [])].sort(), [
        ["s2", row("s2", 5)],
        ["s3", row("s3", 7)],
      ]);
    },
  },
  {
    rule: "a range that does not join what is kept, or is of another log, is not kept",
    async check(open) {
      const { storage, generation } = await leading(open);
      const range = { logId: "log", from: 8, to: 9, changes: [], settled: [] };
      same(await storage.keepRows(range, generation), "gap");
      await storage.keepPage(page(5, ["s1"]), generation);
      same(await storage.keepRows(range, generation), "gap");
      same(await storage.keepRows({ ...range, logId: "other", from: 5 }, generation), "gap");
      // Behind what is kept already: nothing to do, and nothing goes back.
      same(await storage.keepRows({ ...range, from: 1, to: 2 }, generation), {});
      same((await (await open()).open("c")).rows.position, 5);
    },
  },
  {
    rule: "a range of another view, or of another form of the rows, is not kept",
    async check(open) {
      const { storage, generation } = await leading(open);
      await storage.keepPage({ ...page(5, ["s1"]), rowsVersion: 1, viewHash: "narrow" }, generation);
      const range = { logId: "log", rowsVersion: 1, viewHash: "narrow", from: 5, to: 6, changes: [], settled: [] };
      same(await storage.keepRows({ ...range, viewHash: "whole" }, generation), "gap");
      same(await storage.keepRows({ ...range, viewHash: undefined }, generation), "gap");
      same(await storage.keepRows({ ...range, rowsVersion: 2 }, generation), "gap");
      same((await storage.readQueue()).rows?.position, 5);
      same(await storage.keepRows(range, generation), {});
      const { rows } = await (await open()).open("c");
      same([rows.position, rows.viewHash, rows.rowsVersion], [6, "narrow", 1]);
    },
  },
  {
    rule: "a snapshot replaces all rows, page by page, and is none before its last page",
    async check(open) {
      const { storage, generation } = await leading(open);
      await storage.keepPage(page(3, ["old"]), generation);
      const many = (from: number) => Array.from({ length: 1_500 }, (_, i) => `s${from + i}`);
      await storage.keepPage({ ...page(9, many(0)), cursor: "1500" }, generation);
      same((await storage.readQueue()).rows, undefined);
      await storage.keepPage({ ...page(9, many(1_500)), first: false, cursor: "3000" }, generation);
      const half = await (await open()).open("c");
      same([half.rows.position, half.partial?.cursor, half.partial?.stamp], [undefined, "3000", 9]);
      same(half.partial?.tables.slide?.size, 3_000);
      await storage.keepPage({ ...page(9, many(3_000)), first: false }, generation);
      const { rows, partial } = await (await open()).open("c");
      same([rows.position, rows.tables.slide?.size, rows.tables.slide?.has("old")], [9, 4_500, false]);
      same(partial, undefined);
    },
  },
  {
    rule: "which records the rows are is kept with them, also while more of them come",
    async check(open) {
      const { storage, generation } = await leading(open);
      const narrow = { ...page(5, ["s1"]), scope: "slide" };
      await storage.keepPage({ ...narrow, cursor: "1" }, generation);
      same((await (await open()).open("c")).partial?.scope, "slide");
      await storage.keepPage({ ...narrow, first: false }, generation);
      await storage.keepRows({ logId: "log", scope: "slide", from: 5, to: 6, changes: [], settled: [] }, generation);
      const { rows } = await (await open()).open("c");
      same([rows.scope, rows.position, (await storage.readQueue()).rows?.scope], ["slide", 6, "slide"]);
      await storage.keepPage(page(7, ["s1"]), generation);
      same((await storage.readQueue()).rows?.scope, undefined);
    },
  },
  {
    rule: "a page of another snapshot than the one that is kept is not kept",
    async check(open) {
      const { storage, generation } = await leading(open);
      const next = { ...page(9, ["s2"]), first: false };
      same(await storage.keepPage(next, generation), "gap");
      await storage.keepPage({ ...page(8, ["s1"]), cursor: "1" }, generation);
      same(await storage.keepPage(next, generation), "gap");
      same(await storage.keepPage({ ...next, stamp: 8, logId: "other" }, generation), "gap");
      same(await storage.keepPage({ ...next, stamp: 8 }, generation), "kept");
      same(await storage.keepPage({ ...next, stamp: 8 }, generation), "gap");
      const { rows } = await (await open()).open("c");
      same([rows.position, rows.tables.slide?.size], [8, 2]);
    },
  },
  {
    rule: "half of a snapshot that no tab can continue is discarded",
    async check(open) {
      const { storage, generation } = await leading(open);
      await storage.keepPage(page(3, ["old"]), generation);
      await storage.keepPage({ ...page(9, ["s1"]), cursor: "" }, generation);
      const { rows, partial } = await (await open()).open("c");
      same([rows, partial], [{ tables: {} }, undefined]);
    },
  },
  {
    rule: "the time at which the rows were known to be complete is kept with them, also without a change, and goes with them",
    async check(open) {
      const { storage, generation } = await leading(open);
      const at = async () => (await (await open()).open("c")).rows.at;
      const range = { logId: "log", from: 9, to: 9, changes: [], settled: [] };
      await storage.keepPage({ ...page(9, ["s1"]), cursor: null }, generation);
      same(await at(), undefined);
      same(await storage.keepRows({ ...range, at: 1_700_000_000_000 }, generation), { change: undefined });
      same(await at(), 1_700_000_000_000);
      await storage.keepRows({ ...range, to: 10 }, generation);
      same(await at(), 1_700_000_000_000);
      await storage.keepRows({ ...range, from: 10, to: 11, at: 1_700_000_000_001 }, generation);
      const { rows } = await (await open()).open("c");
      same([rows.at, rows.position], [1_700_000_000_001, 11]);
      await storage.keepPage({ ...page(12, ["s1"]), cursor: null }, generation);
      same(await at(), undefined);
      await storage.keepPage({ ...page(13, ["s1"]), cursor: null, at: 1_700_000_000_002 }, generation);
      same(await at(), 1_700_000_000_002);
    },
  },
  {
    rule: "a former leader writes nothing any more",
    async check(open) {
      const [one, two] = [await opened(open), await opened(open)];
      const places = await enqueued(one, "a");
      const { generation: old } = await one.takeLead();
      await one.keepPage(page(3, ["s1"]), old);
      const { generation, mutations } = await two.takeLead();
      same([generation > old, mutations.map((m) => m.clientTxId)], [true, ["a"]]);
      same([(await one.readQueue()).generation, (await two.readQueue()).generation], [generation, generation]);
      const rejected = places.map(({ clientTxId, seq }): Mutation => ({ ...write(clientTxId), seq, stage: REJECTED }));
      const change = { record: { model: "slide", id: "s1" }, value: undefined };
      const range = { logId: "log", from: 3, to: 4, changes: [change], settled: places };
      const answers = [
        await one.keep(rejected, old),
        await one.forget(places, old),
        await one.keepRows(range, old),
        await one.keepPage({ ...page(9, []), cursor: null }, old),
      ];
      same(answers, ["fenced", "fenced", "fenced", "fenced"]);
      const stored = await (await open()).open("c");
      same([stored.rows.position, stored.rows.tables.slide?.size], [3, 1]);
      same(
        stored.mutations.map((m) => [m.clientTxId, m.stage.phase]),
        [["a", "queued"]],
      );
      same(await two.keepRows(range, generation), { change: 1 });
    },
  },
  {
    rule: "a place that holds another write by now is not touched in the name of the old one",
    async check(open) {
      const storage = await opened(open);
      const [a] = await enqueued(storage, "a");
      const { generation } = await storage.takeLead();
      await storage.enqueue([instead(a, "a2")]);
      await storage.keep([{ ...write("a"), seq: a.seq, stage: REJECTED }], generation);
      await storage.forget([a], generation);
      same(
        (await (await open()).open("c")).mutations.map((m) => [m.clientTxId, m.stage.phase]),
        [["a2", "queued"]],
      );
      await storage.forget([{ clientTxId: "a2", seq: a.seq }], generation);
      same((await (await open()).open("c")).mutations, []);
    },
  },
];

const REJECTED = {
  phase: "rejected",
  failure: { code: "claim_conflict", type: "claim_error", then: "wait", message: "Held." },
} as const;

const bodyOf = (name: string) => `{"operations":[],"clientTxId":"${name}","clientId":"c"}`;

async function opened(open: () => Promise<Storage>): Promise<Storage> {
  const storage = await open();
  await storage.open("c");
  return storage;
}

/** Opened, and its client leads. */
async function leading(open: () => Promise<Storage>) {
  const storage = await opened(open);
  return { storage, generation: (await storage.takeLead()).generation };
}

/** A write that is being saved. */
export const write = (clientTxId: string): Mutation => ({
  clientTxId,
  seq: undefined,
  operations: [],
  reads: [],
  body: bodyOf(clientTxId),
  bytes: bodyOf(clientTxId).length,
  createdAt: 1,
  owner: null,
  attempts: 0,
  keys: ["slide/s1"],
  echoed: [],
  stage: { phase: "saving" },
});

/** New writes, as the queue is told of them. */
export const added = (...mutations: readonly Mutation[]): QueueChange => ({
  put: mutations.map((mutation) => ({ mutation })),
  drop: [],
});

/** Puts new writes into the queue, and gives their places. */
async function enqueued<const Names extends readonly string[]>(
  storage: Storage,
  ...names: Names
): Promise<{ [I in keyof Names]: Slot }> {
  const { places } = await storage.enqueue(names.map((name) => added(write(name))));
  const seqs = places.map((each) => (each === "refused" ? 0 : (each[0] ?? 0)));
  return names.map((clientTxId, i) => ({ clientTxId, seq: seqs[i] ?? 0 })) as { [I in keyof Names]: Slot };
}

const standingAt = (place: Slot): ExpectedSlot => ({ ...place, phase: "queued" });

/** A write that takes a place. */
const instead = (place: Slot, clientTxId: string): QueueChange => ({
  put: [{ mutation: { ...write(clientTxId), seq: place.seq }, over: standingAt(place) }],
  drop: [],
});

const row = (id: string, syncId: number) => ({ data: { id, title: `Title ${id}` }, archivedAt: null, syncId });

/** A whole snapshot in one page. */
const page = (stamp: number, ids: readonly string[]): StoredPage => ({
  logId: "log",
  stamp,
  first: true,
  changes: ids.map((id) => ({ record: { model: "slide", id }, value: row(id, stamp) })),
  cursor: null,
});

function same(actual: unknown, expected: unknown): void {
  const [a, b] = [stable(actual), stable(expected)];
  if (a !== b) throw new Error(`Expected ${b}\n     got ${a}`);
}

/** Keys in one order: what matters is what is there, not in which order a store gives it back. */
const stable = (value: unknown): string =>
  JSON.stringify(value, (_, v: unknown) =>
    typeof v === "object" && v !== null && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  ) ?? "undefined";
