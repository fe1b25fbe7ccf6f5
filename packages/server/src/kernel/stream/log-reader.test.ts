import type { Model } from "@holdfast/sdk/protocol";
import { expect, test, vi } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { storedEntryOf } from "../../testing/stored-entry.ts";
import type { SavedEntry } from "../commits/db/save-round.ts";
import type { CommittedBatch } from "../commits/flows/round-result.ts";
import type { StoredEntry } from "../commits/rules/stored-entry.ts";
import { createLimiter } from "../limits/limiter.ts";
import type { FollowLog } from "../log/flows/follow-log.ts";
import type { LiveSchema } from "../schema/flows/schema-cache.ts";
import { declaredValues } from "../schema/rules/declared-values.ts";
import { createCatchUp } from "./catch-up.ts";
import { createHub, type Hub } from "./hub.ts";
import { listenToLog, type Reading } from "./log-reader.ts";

const SUBSCRIBED = { erasedTo: () => 0, delivered: () => undefined, hear: () => {}, end: () => {} };
const unheard = { onSchemaPushed: () => {}, onRenamed: () => {} };
const spoken = { version: 1, rowsVersion: 1, shownRowsVersion: 1, names: undefined };
const NAMES = {
  key: "older",
  models: new Map([["note", { toNew: new Map([["older", "a"]]), toOld: new Map([["a", "older"]]) }]]),
  olderSince: 0,
};
const whole = { view: { models: undefined, groups: undefined }, after: 0, spoken, clientId: null };
const enterPage = async () => () => {};

const schemaOf = (...names: string[]): LiveSchema => ({
  version: names.length,
  hash: "",
  values: declaredValues([]),
  hasRenames: false,
  models: new Map(
    names.map((name) => [name, { name, model: { fields: { a: { type: "string" } } } satisfies Model, changes: [] }]),
  ),
  hiddenModels: [],
  unreadable: [],
  rowsVersion: 1,
});

/** The hub of an empty log, and how something is committed to it. */
function emptyHub() {
  const log = { current: async () => ({ head: { syncId: 0, erasedTo: 0 }, schema: schemaOf("note") }) };
  const poll = { watch: () => () => {}, askAll: () => {}, close: () => {} };
  const fail = (error: unknown) => {
    throw error;
  };
  // Telling takes no time, so that nothing that is committed has to wait.
  const hub = createHub(log as unknown as FollowLog, poll, fail, () => 0);
  const commit = (entry: StoredEntry, schema: LiveSchema, known: Partial<SavedEntry> = {}) =>
    hub.committed({
      ...{ tenant: 1, from: entry.syncId - 1, to: entry.syncId, schema },
      entries: [{ entry, ...known }],
    } as unknown as CommittedBatch);
  return { hub, commit };
}

/** A live reader of an empty log, and what it hears: frames, and that it has to begin anew. */
async function liveReader(reading: Partial<Reading>) {
  const { hub, commit } = emptyHub();
  const heard: string[] = [];
  const reader = await listenToLog(hub, createCatchUp({} as FollowLog, createLimiter({})), 1, {
    enterPage,
    write: async () => {},
    send: (frame) => heard.push(String(frame)),
    onSchemaPushed: () => {},
    onRenamed: () => heard.push("renamed"),
  });
  expect(await reader.begin({ ...whole, ...reading })).toBe("live");
  return { reader, commit, heard };
}

const entryOf = (syncId: number, model: string) =>
  storedEntryOf({
    ...{ syncId, model, id: `r${syncId}`, clientTxId: `t${syncId}` },
    verb: "created",
    data: '{"a":"x"}',
  });

test("[T2] a reader that catches up gets entries of a model that was declared meanwhile", async () => {
  const many = 700;
  let declared = schemaOf("note");
  const hub = { listen: async () => ({ position: () => many, ...SUBSCRIBED }) } as unknown as Hub;
  const log = {
    entries: async (_tenant: number, after: number, to: number) =>
      Array.from({ length: to - after }, (_, i) => entryOf(after + i + 1, after + i + 1 === many ? "task" : "note")),
    current: async () => ({ schema: declared }),
  } as unknown as FollowLog;
  const received: number[] = [];
  const reader = await listenToLog(hub, createCatchUp(log, createLimiter({ most: 1, mostPerKey: 1 })), 1, {
    send: () => {},
    enterPage,
    write: async (frame) => {
      received.push(...entriesOf(frame));
      declared = schemaOf("note", "task");
    },
    ...unheard,
  });
  expect(await reader.begin(whole)).toBe("live");
  expect(received).toEqual(Array.from({ length: many }, (_, i) => i + 1));
});

const entriesOf = (frame: Buffer): number[] =>
  (JSON.parse(frame.toString()) as { entries: { syncId: number }[] }).entries.map(({ syncId }) => syncId);

test("[T11] sockets that catch up from the same position share what is read, and with the same view the bytes", async () => {
  const many = 1_200;
  const hub = { listen: async () => ({ position: () => many, ...SUBSCRIBED }) } as unknown as Hub;
  let reads = 0;
  const log = {
    entries: async (_tenant: number, after: number, to: number) => {
      reads += 1;
      return Array.from({ length: to - after }, (_, i) => entryOf(after + i + 1, "note"));
    },
    current: async () => ({ schema: schemaOf("note") }),
  } as unknown as FollowLog;
  const catchUp = createCatchUp(log, createLimiter({ most: 4, mostPerKey: 3 }));
  const frames = new Set<Buffer>();
  const readers = await Promise.all(
    Array.from({ length: 200 }, async () => {
      const received: number[] = [];
      const write = async (frame: Buffer) => {
        frames.add(frame);
        received.push(...entriesOf(frame));
      };
      const reader = await listenToLog(hub, catchUp, 1, { send: () => {}, enterPage, write, ...unheard });
      await reader.begin(whole);
      return received.length;
    }),
  );
  expect(new Set(readers)).toEqual(new Set([many]));
  expect(reads).toBe(3);
  expect(frames.size).toBe(3);
  // Another view has frames of its own, of the same pages.
  const other = await listenToLog(hub, catchUp, 1, {
    send: () => {},
    enterPage,
    write: async (frame) => void frames.add(frame),
    ...unheard,
  });
  await other.begin({ ...whole, view: { models: new Set(["note"]), groups: undefined } });
  expect(reads).toBe(3);
  expect(frames.size).toBe(6);
});

test("[ER6] a page that was read before an erasure is read again for a reader that catches up after it", async () => {
  let erasedTo = 0;
  const hub = {
    listen: async () => ({ ...SUBSCRIBED, position: () => 500, erasedTo: () => erasedTo }),
  } as unknown as Hub;
  let reads = 0;
  const log = {
    entries: async () => {
      reads += 1;
      return Array.from({ length: 500 }, (_, i) => entryOf(i + 1, "note"));
    },
    current: async () => ({ schema: schemaOf("note") }),
  } as unknown as FollowLog;
  const catchUp = createCatchUp(log, createLimiter({ most: 1, mostPerKey: 1 }));
  const readAll = async () => {
    const reader = await listenToLog(hub, catchUp, 1, {
      send: () => {},
      enterPage,
      write: async () => {},
      ...unheard,
    });
    await reader.begin(whole);
    return reads;
  };
  expect(await readAll()).toBe(1);
  expect(await readAll()).toBe(1);
  erasedTo = 501;
  expect(await readAll()).toBe(2);
  expect(await readAll()).toBe(2);
});

test("[B11] a page that is not written yet keeps its place, and a small one does not", async () => {
  const hub = (many: number) => ({ listen: async () => ({ position: () => many, ...SUBSCRIBED }) }) as unknown as Hub;
  const log = {
    entries: async (_tenant: number, after: number, to: number) =>
      Array.from({ length: to - after }, (_, i) => entryOf(after + i + 1, "note")),
    current: async () => ({ schema: schemaOf("note") }),
  } as unknown as FollowLog;
  const catchUp = createCatchUp(log, createLimiter({ most: 4, mostPerKey: 4 }));
  const places = createLimiter<string>({ most: 1 });
  const enter = async () => {
    await places.enter("a");
    let isLeft = false;
    return () => {
      if (!isLeft) places.leave("a");
      isLeft = true;
    };
  };
  const begin = async (many: number) => {
    const written: (() => void)[] = [];
    const reader = await listenToLog(hub(many), catchUp, 1, {
      send: () => {},
      enterPage: enter,
      write: () => new Promise((resolve) => void written.push(resolve)),
      ...unheard,
    });
    const ended = reader.begin(whole);
    return { written, ended };
  };
  const small = await begin(10);
  await until(() => small.written.length === 1);
  const large = await begin(400);
  await until(() => large.written.length === 1);
  const next = await begin(400);
  await until(() => places.waiting === 1);
  expect(next.written).toHaveLength(0);
  large.written[0]?.();
  expect(await large.ended).toBe("live");
  await until(() => next.written.length === 1);
});

test.each([
  ["whose rows another schema has changed", { rowsVersion: 2 }, undefined],
  ["under another schema, if the reader has names of its own", { version: 2 }, NAMES],
])("[M35] news %s are not sent", async (_, changed, names) => {
  const { commit, heard } = await liveReader({ spoken: { ...spoken, names } });
  const schema = schemaOf("note");
  commit(entryOf(1, "note"), schema);
  expect(heard).toEqual([expect.stringContaining(names ? '"older":"x"' : '"a":"x"')]);
  commit(entryOf(2, "note"), { ...schema, ...changed });
  expect(heard.slice(1)).toEqual(["renamed"]);
});

test("[M35] [T17] a reader is not told of a position beyond news that a push has changed, also if they are not for it", async () => {
  const { reader, commit, heard } = await liveReader({ view: { models: new Set(["note"]), groups: undefined } });
  commit(entryOf(1, "task"), { ...schemaOf("note", "task"), version: 1, rowsVersion: 2 });
  expect(heard).toEqual([]);
  reader.tell();
  expect(heard).toEqual(["renamed"]);
});

/** A live reader of the notes only, and the frames that it gets. */
async function notesOnly(clientId: string | null = null) {
  const view = { models: new Set(["note"]), groups: undefined };
  const { reader, commit: commitEntry, heard } = await liveReader({ view, clientId });
  let at = 0;
  const commit = (model: string, by: string | null = null) => {
    at += 1;
    const entry = storedEntryOf({
      ...{ syncId: at, model, id: `r${at}`, clientTxId: `t${at}`, verb: "created", data: '{"a":"x"}', clientId: by },
    });
    commitEntry(entry, { ...schemaOf("note", "task"), version: 1 });
  };
  const ranges = () =>
    heard.splice(0).map((text) => {
      const { from, to, entries } = JSON.parse(text) as { from: number; to: number; entries: unknown[] };
      return [from, to, entries.length];
    });
  return { reader, commit, ranges };
}

test("[T17] what is not for a reader costs it no frame; where the log is, is said with what comes next, when asked, or after a second", async () => {
  vi.useFakeTimers();
  try {
    const { reader, commit, ranges } = await notesOnly();
    for (const model of ["task", "task", "note", "task"]) commit(model);
    expect(ranges()).toEqual([
      [0, 2, 0],
      [2, 3, 1],
    ]);
    reader.tell();
    reader.tell();
    expect(ranges()).toEqual([[3, 4, 0]]);
    for (let n = 0; n < 100; n++) commit("task");
    vi.advanceTimersByTime(999);
    expect(ranges()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(ranges()).toEqual([[4, 104, 0]]);
    vi.advanceTimersByTime(10_000);
    expect(ranges()).toEqual([]);
    commit("task");
    reader.end();
    vi.advanceTimersByTime(10_000);
    expect(ranges()).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});

test("[T17] a reader that follows something else has been told of all that was not for it before", async () => {
  const { reader, commit, ranges } = await notesOnly();
  commit("task");
  reader.follow({ models: new Set(["task"]), groups: undefined });
  expect(ranges()).toEqual([[0, 1, 0]]);
  commit("task");
  expect(ranges()).toEqual([[1, 2, 1]]);
});

test("[T17] a client hears at once that its own change is in the log, also one that it does not follow", async () => {
  const { commit, ranges } = await notesOnly("mine");
  commit("task", "theirs");
  commit("task", null);
  commit("task", "mine");
  expect(ranges()).toEqual([
    [0, 2, 0],
    [2, 3, 0],
  ]);
});

test("[T18] a push that gives a field another type changes which values a part has", async () => {
  const where = { note: [{ a: "2026-01-01T00:00:00Z" }] };
  const { commit, heard } = await liveReader({ view: { models: undefined, groups: undefined, where } });
  const schema = (version: number, type: "string" | "datetime") => ({
    ...schemaOf("note"),
    version,
    models: new Map([["note", { name: "note", model: { fields: { a: { type } } }, changes: [] }]]),
  });
  const written = (syncId: number) => ({ ...entryOf(syncId, "note"), data: '{"a":"2026-01-01T00:00:00.0Z"}' });
  commit(written(1), schema(1, "string"));
  expect(heard).toEqual([]);
  commit(written(2), schema(2, "datetime"));
  expect(heard.map((frame) => (JSON.parse(frame) as { to: number }).to)).toEqual([1, 2]);
});

test.each([
  ["met the part", { dataBefore: { a: "x" }, keepsValues: true }, [true]],
  ["did not", { dataBefore: { a: "y" }, keepsValues: true }, []],
  ["was in a table of the caller's own, which alone knows", { dataBefore: { a: "y" }, keepsValues: false }, [true]],
])(
  "[T14] [T22] [T21] whether a reader of a part hears that an updated record has left it, when that %s before",
  async (_, known, left) => {
    const view = { models: undefined, groups: undefined, where: { note: [{ a: "x" }] } };
    const { commit, heard } = await liveReader({ view });
    const updated = { ...entryOf(1, "note"), verb: "updated", data: '{"a":"z"}', changedFields: '["a"]' } as const;
    commit(updated, schemaOf("note"), known);
    const entries = heard.flatMap((frame) => (JSON.parse(frame) as { entries: { left?: true }[] }).entries);
    expect(entries.map((entry) => entry.left)).toEqual(left);
  },
);
