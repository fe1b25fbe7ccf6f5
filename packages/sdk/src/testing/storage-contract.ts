import type { Mutation } from "../core/mutation.ts";
import type { Rows } from "../core/rows.ts";
import { changeTables } from "../core/tables.ts";
import type { Storage } from "../engine/ports.ts";

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
      const storage = await open();
      await storage.open("c");
      await storage.enqueue([write("a"), write("b")]);
      await storage.enqueue([write("c")]);
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
      const [one, two] = [await open(), await open()];
      await one.open("c");
      await two.open("c");
      const first = await one.enqueue([write("a")]);
      await one.forget(first.map((p) => p.seq));
      const both = await Promise.all([one.enqueue([write("b")]), two.enqueue([write("c")])]);
      const seqs = [...first, ...both.flat()].map((p) => p.seq);
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
      const storage = await open();
      await storage.open("c");
      const operations = [{ action: "update", model: "slide", id: "s1", data, onStale: "notify", base: data } as const];
      await storage.enqueue([{ ...write("a"), operations, body: JSON.stringify(data) }]);
      const [back] = await storage.readQueue();
      same(back?.operations, operations);
      same(back?.body, JSON.stringify(data));
    },
  },
  {
    rule: "a write that takes a given place replaces what was there",
    async check(open) {
      const storage = await open();
      await storage.open("c");
      const [place] = await storage.enqueue([write("a"), write("b")]);
      await storage.enqueue([{ ...write("a2"), seq: place?.seq }]);
      same(
        (await storage.readQueue()).map((m) => m.clientTxId),
        ["a2", "b"],
      );
    },
  },
  {
    rule: "what became of a write is kept, unless the write is gone",
    async check(open) {
      const storage = await open();
      await storage.open("c");
      const places = await storage.enqueue([write("a"), write("b")]);
      const parked = places.map(({ clientTxId, seq }): Mutation => ({ ...write(clientTxId), seq, stage: PARKED }));
      await storage.forget([places[0]?.seq ?? 0]);
      await storage.keep(parked);
      const { mutations } = await (await open()).open("c");
      same(
        mutations.map((m) => [m.clientTxId, m.stage]),
        [["b", PARKED]],
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
    rule: "rows and their position are kept together, with what they settled",
    async check(open) {
      const storage = await open();
      await storage.open("c");
      const [place] = await storage.enqueue([write("a")]);
      await storage.keepSnapshot(rows(5, ["s1", "s2"]));
      const changes = [
        { record: { model: "Slide", id: "s1" }, value: undefined },
        { record: { model: "Slide", id: "s3" }, value: row("s3", 7) },
      ];
      same(await storage.keepRows({ logId: "log", from: 5, to: 7, changes, settled: [place?.seq ?? 0] }), "kept");
      const stored = await (await open()).open("c");
      same([stored.rows.logId, stored.rows.position, stored.mutations.length], ["log", 7, 0]);
      same([...(stored.rows.tables.slide?.entries() ?? [])].sort(), [
        ["s2", row("s2", 5)],
        ["s3", row("s3", 7)],
      ]);
    },
  },
  {
    rule: "a stretch that does not join what is kept, or is of another log, is not kept",
    async check(open) {
      const storage = await open();
      await storage.open("c");
      const stretch = { from: 8, to: 9, changes: [], settled: [] };
      same(await storage.keepRows({ ...stretch, logId: "log" }), "gap");
      await storage.keepSnapshot(rows(5, ["s1"]));
      same(await storage.keepRows({ ...stretch, logId: "log" }), "gap");
      same(await storage.keepRows({ ...stretch, logId: "other", from: 5 }), "gap");
      // Behind what another tab has kept already: nothing to do, and nothing goes back.
      same(await storage.keepRows({ ...stretch, logId: "log", from: 1, to: 2 }), "kept");
      same((await (await open()).open("c")).rows.position, 5);
    },
  },
  {
    rule: "a snapshot replaces all rows, also a large one",
    async check(open) {
      const storage = await open();
      await storage.open("c");
      await storage.keepSnapshot(rows(3, ["old"]));
      await storage.keepSnapshot(
        rows(
          9,
          Array.from({ length: 4_500 }, (_, i) => `s${i}`),
        ),
      );
      const stored = await (await open()).open("c");
      same(
        [stored.rows.position, stored.rows.tables.slide?.size, stored.rows.tables.slide?.has("old")],
        [9, 4_500, false],
      );
    },
  },
];

const PARKED = {
  phase: "parked",
  failure: { code: "claim_conflict", type: "claim_error", then: "wait", message: "Held." },
} as const;

const bodyOf = (name: string) => `{"operations":[],"clientTxId":"${name}","clientId":"c"}`;

const write = (clientTxId: string): Mutation => ({
  clientTxId,
  seq: undefined,
  operations: [],
  reads: [],
  body: bodyOf(clientTxId),
  bytes: bodyOf(clientTxId).length,
  createdAt: 1,
  attempts: 0,
  keys: ["slide/s1"],
  landed: [],
  stage: { phase: "saving" },
});

const row = (id: string, syncId: number) => ({ data: { id, title: `Title ${id}` }, archivedAt: null, syncId });

const rows = (position: number, ids: readonly string[]): Rows => ({
  tables: changeTables(
    {},
    ids.map((id) => ({ record: { model: "slide", id }, value: row(id, position) })),
  ),
  logId: "log",
  position,
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
