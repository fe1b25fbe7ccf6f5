import type { LogEntry } from "@holdfast/sdk/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { startApp } from "../../testing/app.ts";
import { follow, type TestStream } from "../../testing/stream/stream.ts";

/*
 * Readers of parts, on two servers, while commits of several operations, bulks, cascades, erasures and pushes change what
 * they follow. Some change their parts meanwhile. After each round of writes, each has what a snapshot of its part has.
 */

const app = await startApp();
const second = await app.another();
const servers = [
  { url: app.url, call: app.call },
  { url: second.server.url, call: second.call },
] as const;
const { token } = await app.newOrganization();

const field = (type: string, more: object = {}) => ({ type, nullable: true, ...more });
const toParent = (onDelete: string, more: object = {}) => field("string", { references: "parent", onDelete, ...more });
const groups = [{ kind: "user", from: "owner" }];
interface Shape {
  readonly rank: string;
  readonly due: string;
  readonly hasNote: boolean;
}
const models = ({ rank, due, hasNote }: Shape) => ({
  parent: { fields: { name: field("string"), owner: field("string") }, groups },
  task: {
    fields: {
      ...{ project: field("string", { index: true }), effort: field("integer"), due: field(due), meta: field("json") },
      ...{ [rank]: field("enum", { values: ["low", "high"] }), labels: field("array"), text: field("string") },
      ...{ owner: field("string"), parentId: toParent("cascade"), otherId: toParent("setNull") },
      parentIds: field("array", { items: "string", references: "parent", onDelete: "setNull" }),
      topId: field("string", { references: "task", onDelete: "cascade" }),
      ...(hasNote && { note: field("string") }),
    },
    groups,
  },
});

const STEPS = 24;
const READERS = 12;
let drawn = 0;
/** Each draw has a seed of its own, so that the writes do not depend on the order of answers. */
const draw = <T>(one: fc.Arbitrary<T>): T => fc.sample(one, { seed: 40_000 + drawn++, numRuns: 1 })[0] as T;

const orNull = <T>(one: fc.Arbitrary<T>) => fc.option(one, { freq: 4 });
const project = fc.constantFrom("a", "b", "c");
const due = fc.constantFrom("2031-01-01T00:00:00Z", "2031-01-01T01:00:00+01:00", "2031-01-01T00:00:00.5Z");
const parent = fc.constantFrom("p0", "p1", "p2");
const task = fc.constantFrom("t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7");
const owner = fc.constantFrom("ann", "ben");
/** Of a length that a round does not read with others. */
const LONG = Array.from({ length: 20_000 }, (_, i) => String.fromCharCode(33 + ((i * 7_919 + (i >> 3)) % 90))).join("");

const dataOf = (rank: string) =>
  fc.record(
    {
      ...{ project: orNull(project), effort: orNull(fc.integer({ min: 0, max: 3 })), due: orNull(due) },
      ...{ [rank]: orNull(fc.constantFrom("low", "high")), owner: orNull(owner) },
      meta: orNull(fc.constantFrom<unknown>(1, "1", "a", [1], {})),
      labels: orNull(fc.array(fc.constantFrom("x", "y", "z"), { maxLength: 2 })),
      text: fc.constantFrom("s", "s", "s", LONG),
    },
    { requiredKeys: [] },
  );
const references = fc.oneof(
  ...[parent.map((parentId) => ({ parentId })), parent.map((otherId) => ({ otherId }))],
  ...[fc.array(parent, { maxLength: 2 }).map((parentIds) => ({ parentIds })), task.map((topId) => ({ topId }))],
);
const operation = (rank: string) => {
  const ofTask = (action: string) => ({ action: fc.constant(action), model: fc.constant("task"), id: task });
  const ofParent = (action: string) => ({ action: fc.constant(action), model: fc.constant("parent"), id: parent });
  const named = fc.record({ name: fc.constantFrom("n", "m"), owner: orNull(owner) });
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ ...ofTask("create"), data: dataOf(rank) }) },
    { weight: 5, arbitrary: fc.record({ ...ofTask("update"), data: dataOf(rank) }) },
    { weight: 2, arbitrary: fc.record({ ...ofTask("update"), data: references }) },
    { weight: 3, arbitrary: fc.record(ofTask("delete")) },
    { weight: 1, arbitrary: fc.constantFrom("archive", "unarchive").chain((one) => fc.record(ofTask(one))) },
    { weight: 1, arbitrary: fc.record({ ...ofParent("create"), data: named }) },
    { weight: 1, arbitrary: fc.record(ofParent("delete")) },
  );
};
const conditions = (rank: string): fc.Arbitrary<object> =>
  fc.oneof(
    ...[orNull(project).map((one) => ({ project: one })), due.map((one) => ({ due: one }))],
    ...[due.map((gte) => ({ due: { gte } })), orNull(fc.constantFrom("low", "high")).map((one) => ({ [rank]: one }))],
    ...[fc.constantFrom(1, "1", "a", null).map((meta) => ({ meta })), parent.map((one) => ({ parentId: one }))],
    fc.constantFrom<object>(
      ...[{}, { effort: { gt: 1 } }, { effort: { lte: 1, gt: 0 } }, { effort: null }, { labels: { contains: "x" } }],
      ...[{ otherId: null, project: "a" }, { id: { in: ["t0", "t1"] } }, { parentIds: { contains: "p1" } }],
      ...[{ note: null, project: "b" }, { note: "x" }, { project: "a", effort: { gte: 1 } }],
    ),
  );
const parts = (rank: string) =>
  fc.record({
    task: fc.oneof(conditions(rank), fc.array(conditions(rank), { maxLength: 3 })),
    parent: fc.constantFrom<object>({}, { name: "n" }, [], { owner: "ann" }),
  });

interface Reader {
  readonly token: string;
  readonly server: (typeof servers)[number];
  where: object;
  stream: TestStream;
  rows: Map<string, string>;
  /** The position of the snapshot that they are from. */
  stamp: number;
}

async function snapshot({ token, server, where }: Pick<Reader, "token" | "server" | "where">) {
  const rows = new Map<string, string>();
  let stamp = 0;
  for (let cursor = ""; ; ) {
    const query = `limit=4&where=${encodeURIComponent(JSON.stringify(where))}${cursor}`;
    const { status, text } = await server.call("GET", `/v1/snapshot?${query}`, { token });
    expect(status, text).toBe(200);
    const [start, ...lines] = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    stamp = start.stamp;
    const { next_cursor } = lines.pop();
    for (const { model, id, data } of lines) rows.set(`${model} ${id}`, JSON.stringify(data));
    if (next_cursor === null) return { rows, stamp };
    cursor = `&starting_after=${encodeURIComponent(next_cursor)}`;
  }
}

async function openReader(asked: Pick<Reader, "token" | "server" | "where">): Promise<Reader> {
  const read = await snapshot(asked);
  const hello = { since: read.stamp, where: asked.where as never };
  return { ...asked, ...read, stream: await follow(asked.server.url, asked.token, hello) };
}

/** The entries that came, on top of the snapshot. */
function applied({ stream, rows, stamp }: Reader): Map<string, string> {
  const now = new Map(rows);
  for (const { syncId, model, id, data } of stream.entries as readonly LogEntry[]) {
    if (syncId <= stamp) continue;
    if (data === null) now.delete(`${model} ${id}`);
    else now.set(`${model} ${id}`, JSON.stringify(data));
  }
  return now;
}

const logEnd = async () => (await app.call("GET", "/v1/log?limit=1&after=0", { token })).body;

test("[T14] [T23] [M9] readers of parts have what a snapshot has, whatever is deleted, moved, erased or pushed", {
  timeout: 300_000,
}, async () => {
  let shape: Shape = { rank: "rank", due: "datetime", hasNote: false };
  const push = async (next: Shape, more: object = {}) => {
    shape = next;
    const { status, text } = await app.call("POST", "/v1/schema", { token, json: { models: models(next), ...more } });
    expect(status, text).toBe(201);
  };
  await push(shape);
  const scope = { participantId: "x", operations: ["*.read"], syncGroups: ["user:ann"] };
  const scoped = (await app.capability(scope, token)).token;
  let readers: Reader[] = [];
  for (let i = 0; i < READERS; i++) {
    const server = servers[i % 2] as Reader["server"];
    readers.push(await openReader({ token: i % 4 === 3 ? scoped : token, server, where: draw(parts(shape.rank)) }));
  }
  const pushes: Readonly<Record<number, () => Promise<void>>> = {
    5: () => push({ ...shape, rank: "priority" }, { renames: [{ model: "task", from: "rank", to: "priority" }] }),
    11: () => push({ ...shape, due: "string" }),
    14: () => push({ ...shape, hasNote: true }),
    19: () => push({ ...shape, hasNote: false }, { force: true }),
  };
  let ended = 0;
  let resyncs = 0;
  for (let step = 0; step < STEPS; step++) {
    const commits = draw(
      fc.array(fc.array(operation(shape.rank), { minLength: 1, maxLength: 5 }), { minLength: 4, maxLength: 8 }),
    );
    const written = commits.map(async (operations, i) => {
      const { call } = servers[i % 4 === 3 ? 1 : 0];
      const isBulk = i % 3 === 2;
      const commits = operations.map((one, n) => ({ clientTxId: `tx-${step}-${i}-${n}`, operations: [one] }));
      const json = isBulk ? { commits } : { operations };
      const { status, text } = await call("POST", `/v1/commits${isBulk ? "/bulk" : ""}`, { token, json });
      expect(status, text).toBeOneOf(isBulk ? [200] : [200, 400, 409]);
    });
    const changing = readers.filter((_, i) => (i + step) % 5 === 0);
    const changed = changing.map(async (reader, i) => {
      reader.where = draw(parts(shape.rank));
      reader.stream.send({ frame: "follow", where: reader.where });
      const n = 1_000 * step + i;
      reader.stream.send({ frame: "ping", n });
      while ((await reader.stream.next("pong")).n !== n);
      Object.assign(reader, await snapshot(reader));
    });
    await Promise.all([...written, ...changed]);
    if (step % 6 === 4) await app.call("DELETE", `/v1/models/task/t${step % 8}?erase=true`, { token });
    if (shape.hasNote) await app.call("PATCH", "/v1/models/task/t1", { token, json: { data: { note: "x" } } });
    const { rowsVersion } = await logEnd();
    await pushes[step]?.();
    const { stamp, rowsVersion: now } = await logEnd();
    if (now !== rowsVersion) {
      for (const { stream } of readers) await stream.next("resync");
      for (const { stream } of readers) stream.socket.terminate();
      readers = await Promise.all(readers.map(openReader));
      resyncs += 1;
    }
    for (const reader of readers) {
      await reader.stream.reaches(Number(stamp));
      expect(reader.stream.faults).toEqual([]);
      const wanted = (await snapshot(reader)).rows;
      const told = `step ${step}, ${JSON.stringify(reader.where)}`;
      expect([...applied(reader)].sort(), told).toEqual([...wanted].sort());
      ended += reader.stream.entries.filter(({ data, left }) => data === null && !left).length;
    }
  }
  expect(resyncs).toBe(3);
  expect(ended).toBeGreaterThan(100);
});
