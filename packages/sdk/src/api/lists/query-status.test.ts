import { expect, test } from "vitest";
import { createTestServer } from "../../testing/test-server.ts";
import type { AnyQuery } from "./list-query.ts";

const schema = {
  models: {
    project: { fields: { name: { type: "string" } } },
    issue: {
      fields: {
        projectId: { type: "string", references: "project", inverse: "issues" },
        effort: { type: "integer" },
        due: { type: "datetime" },
        labels: { type: "array" },
        isDone: { type: "boolean" },
      },
    },
    note: { fields: { text: { type: "string" } } },
  },
} as const;

const TEN = { gte: 1, lt: 10 };
const parts = [
  { projectId: "p1" },
  { projectId: { in: ["p2", "p3"] }, isDone: false },
  { labels: { contains: "urgent" } },
  { effort: TEN },
  { due: "2030-01-01T00:00:00Z" },
];

/** A client that follows these parts of the issues, and all of the other models. */
async function start(follow: object = { where: { issue: parts } }) {
  const own = createTestServer(schema);
  const made = own.client({ follow });
  await made.client.ready({ rows: "complete" });
  await own.settle();
  const { models } = made.client;
  return { ...own, ...made, models, of: (query: AnyQuery) => models.issue.status(query as never) };
}

test.each<[string, AnyQuery]>([
  ["a value of a part", { where: { projectId: "p1" } }],
  ["more than a part asks for", { where: { projectId: "p1", isDone: true, effort: 3 }, limit: 2 }],
  ["every condition of a part", { where: { projectId: "p3", isDone: false } }],
  ["some of the values", { where: { projectId: { in: ["p3", "p2"] }, isDone: false } }],
  ["an item of an array", { where: { labels: { contains: "urgent" } } }],
  ["the same range", { where: { effort: TEN } }],
  ["a value within a range", { where: { effort: 9 } }],
  ["a point in time", { where: { due: new Date("2030-01-01T00:00:00Z") } }],
  ["it inside of and", { where: { and: [{ isDone: true }, { projectId: "p1" }] } }],
])("[R71] a query is complete if a part that was read has all that it can match: %s", async (_, query) => {
  expect((await start()).of(query)).toBe("complete");
});

test.each<[string, AnyQuery]>([
  ["everything", {}],
  ["another value", { where: { projectId: "p4" } }],
  ["no value", { where: { projectId: null } }],
  ["one value more", { where: { projectId: { in: ["p1", "p4"] } } }],
  ["less than a part asks for", { where: { projectId: "p2" } }],
  ["another item", { where: { labels: { contains: "late" } } }],
  ["a wider range", { where: { effort: { gte: 0, lt: 10 } } }],
  ["a value beside a range", { where: { effort: 10 } }],
  ["not a value", { where: { projectId: { not: "p4" } } }],
  ["it inside of or", { where: { or: [{ projectId: "p1" }, { isDone: true }] } }],
])("[R71] otherwise it is partial: %s", async (_, query) => {
  expect((await start()).of(query)).toBe("partial");
});

test("[R71] while its part is being read, it is loading; then, as all rows, partial until the client is connected again", async () => {
  const { client, of, settle, offline } = await start();
  const query = { where: { projectId: "p4" } };
  const seen = new Set<string>();
  client.subscribe(() => seen.add(of(query)));
  const { ready, release } = client.load("issue", { projectId: "p4" });
  await ready;
  await settle();
  expect(of(query)).toBe("complete");
  expect([...seen]).toEqual(["loading", "partial", "complete"]);
  offline();
  await settle();
  expect(of(query)).toBe("partial");
  release();
});

test("[R71] what the app follows of a model at all times, and models that are followed whole, are all that there is", async () => {
  const { models, of } = await start({ where: { issue: { projectId: "p1" } } });
  expect([of({}), models.note.status()]).toEqual(["complete", "complete"]);
  const some = await start({ models: ["issue"] });
  expect([some.of({}), some.models.note.status()]).toEqual(["complete", "partial"]);
});

test("[R71] a query with what it includes is complete only if all records that may be included were read", async () => {
  const { models, of } = await start();
  expect(of({ where: { projectId: "p1" }, include: { project: true } })).toBe("complete");
  expect(models.project.status({ include: { issues: { where: { projectId: "p1" } } } })).toBe("partial");
  expect(models.project.status()).toBe("complete");
});

test("[R28] [R71] a query with staleOk: false has no records before the part of its own was read", async () => {
  const { client, server, settle } = await start();
  const commit = { operations: [{ action: "create", model: "issue", id: "i", data: { projectId: "p4" } }] };
  server.commit({ ...commit, clientTxId: "t", clientId: "c" } as never, "ben");
  const list = () => client.models.issue.list({ where: { projectId: "p4" }, staleOk: false });
  expect(list()).toEqual([]);
  client.models.issue.create({ projectId: "p4" });
  expect(list()).toEqual([]);
  await client.load("issue", { projectId: "p4" }).ready;
  await settle();
  expect(list()).toHaveLength(2);
});

test("[R71] a wrong query throws, also when its status is asked for", async () => {
  const { of } = await start();
  expect(() => of({ where: { title: "x" } })).toThrow(/title/);
});
