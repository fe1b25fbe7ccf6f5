import fc from "fast-check";
import { expect, test } from "vitest";
import type { FollowedConditions } from "../../protocol/log/followed-records.ts";
import { BrowserProfile } from "../../testing/browser-profile.ts";
import { createTestServer } from "../../testing/test-server.ts";
import { type Conditions, compileConditions } from "./conditions.ts";
import type { AnyQuery } from "./list-query.ts";
import { isCovered } from "./query-status.ts";

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
  { due: { in: ["2031-01-01T00:00:00Z", "2032-01-01T00:00:00Z"] } },
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
  [
    "points in time of a list",
    { where: { due: { in: ["2031-01-01T01:00:00+01:00", new Date("2030-01-01T00:00:00Z")] } } },
  ],
  ["it inside of and", { where: { and: [{ isDone: true }, { projectId: "p1" }] } }],
  ["a narrower range", { where: { effort: { gte: 2, lt: 9 } } }],
  ["the same bounds, of which one is not meant", { where: { effort: { gt: 1, lt: 10 } } }],
  ["values of several parts", { where: { projectId: { in: ["p1", "p2", "p3"] }, isDone: false } }],
  ["one of what several parts ask for", { where: { or: [{ projectId: "p1" }, { effort: 3 }] } }],
  [
    "the same, each with more that is asked in any case",
    { where: { isDone: false, or: [{ projectId: { in: ["p1", "p2"] } }, { and: [{ effort: { gt: 5, lte: 9 } }] }] } },
  ],
  [
    "values of several parts, beside an or",
    { where: { projectId: { in: ["p1", "p2"] }, isDone: false, or: [{ effort: 1 }, { effort: null }] } },
  ],
  ["none of several", { where: { or: [] } }],
])(
  "[R71] [R97] [R96] [R95] a query is complete if a part that was read has all that it can match: %s",
  async (_, query) => {
    expect((await start()).of(query)).toBe("complete");
  },
);

test.each<[string, AnyQuery]>([
  ["everything", {}],
  ["another value", { where: { projectId: "p4" } }],
  ["no value", { where: { projectId: null } }],
  ["one value more", { where: { projectId: { in: ["p1", "p4"] } } }],
  ["less than a part asks for", { where: { projectId: "p2" } }],
  ["another item", { where: { labels: { contains: "late" } } }],
  ["a wider range", { where: { effort: { gte: 0, lt: 10 } } }],
  ["a value beside a range", { where: { effort: 10 } }],
  ["a bound that is not meant in the part", { where: { effort: { gte: 1, lte: 10 } } }],
  ["one bound of two", { where: { effort: { gte: 2 } } }],
  ["values of which one is in no part", { where: { projectId: { in: ["p1", "p2", "p4"] }, isDone: false } }],
  ["values of parts of which one asks for more", { where: { projectId: { in: ["p1", "p2"] } } }],
  ["several of which one is in no part", { where: { or: [{ projectId: "p1" }, { projectId: "p4" }] } }],
  ["not a value", { where: { projectId: { not: "p4" } } }],
  ["it inside of or", { where: { or: [{ projectId: "p1" }, { isDone: true }] } }],
])("[R71] [R96] [R95] otherwise it is partial: %s", async (_, query) => {
  expect((await start()).of(query)).toBe("partial");
});

test("[R71] [R97] bounds that are one moment are the same, however they are spelled", async () => {
  const { of } = await start({ where: { issue: [{ due: { gt: "2031-01-01T00:00:00Z" } }] } });
  for (const due of [
    { gt: "2031-01-01T00:00:00.000Z" },
    { gt: new Date("2031-01-01") },
    { gte: new Date("2031-01-02") },
  ])
    expect(of({ where: { due } }), JSON.stringify(due)).toBe("complete");
  expect(of({ where: { due: { gte: "2031-01-01T01:00:00+01:00" } } })).toBe("partial");
});

test("[R71] [R95] what counts as complete is so: each record that a query can match is in a part", () => {
  const model = schema.models.issue;
  const value = { projectId: fc.constantFrom("p1", "p2", "p3", null), effort: fc.constantFrom(0, 1, 2, 3, null) };
  const dues = ["2030-01-01T00:00:00Z", "2030-01-01T00:00:00.000Z", "2031-01-01T00:00:00Z"] as const;
  const bound = fc.constantFrom(0, 1, 2, 3);
  const range = fc.dictionary(fc.constantFrom("gt", "gte", "lt", "lte"), bound, { minKeys: 1 });
  const due = fc.oneof(
    fc.constantFrom(...dues),
    fc.dictionary(fc.constantFrom("gt", "gte", "lt"), fc.constantFrom(...dues), { minKeys: 1 }),
  );
  const fields = (given: readonly ("projectId" | "effort" | "due" | "labels")[]) =>
    fc
      .subarray([...given])
      .chain((names) =>
        fc.record(
          Object.fromEntries(
            names.map((name) => [
              name,
              name === "projectId"
                ? fc.oneof(value.projectId, fc.record({ in: fc.array(value.projectId, { maxLength: 3 }) }))
                : name === "effort"
                  ? fc.oneof(value.effort, range)
                  : name === "due"
                    ? due
                    : fc.record({ contains: fc.constantFrom("a", "b") }),
            ]),
          ),
        ),
      );
  const part = fields(["projectId", "effort", "due", "labels"]) as fc.Arbitrary<FollowedConditions>;
  const query = fc.letrec<{ where: object }>((tie) => ({
    where: fc
      .tuple(
        fields(["projectId", "effort", "due", "labels"]),
        fc.option(fc.array(tie("where"), { maxLength: 3 }), { freq: 3 }),
        fc.option(fc.array(tie("where"), { maxLength: 2 }), { freq: 3 }),
      )
      .map(([own, or, and]) => ({ ...own, ...(or && { or }), ...(and && { and }) })),
  })).where;
  const record = fc.record({
    ...value,
    due: fc.option(fc.constantFrom(...dues)),
    labels: fc.subarray(["a", "b"]),
  });
  let covered = 0;
  fc.assert(
    fc.property(
      query,
      fc.array(part, { maxLength: 4 }),
      fc.array(record, { maxLength: 30 }),
      (where, parts, records) => {
        if (!isCovered(where as Conditions, { parts, model: "issue", schema: model })) return;
        covered += 1;
        const isIn = parts.map((one) => compileConditions("issue", model, one));
        const meets = compileConditions("issue", model, where);
        for (const one of records) expect(!meets(one) || isIn.some((test) => test(one))).toBe(true);
      },
    ),
    { numRuns: 3_000 },
  );
  expect(covered).toBeGreaterThan(300);
});

test("[R71] [R95] while its part is being read, it is loading; then complete, because the stream has gone on", async () => {
  const { client, of, settle, offline } = await start();
  const query = { where: { projectId: "p4" } };
  const seen = new Set<string>();
  client.subscribe(() => seen.add(of(query)));
  const { ready, release } = client.load("issue", { projectId: "p4" });
  await ready;
  await settle();
  expect(of(query)).toBe("complete");
  expect([...seen]).toEqual(["loading", "complete"]);
  offline();
  await settle();
  expect(of(query)).toBe("partial");
  release();
});

test("[R71] [R99] what has been read is complete also while another part is being read, in each tab", async () => {
  const own = createTestServer(schema);
  const profile = new BrowserProfile();
  const open = () => own.client({ platform: profile.platform, follow: { where: { issue: [] } } }).client;
  const [one, other] = [open(), open()];
  for (const tab of [one, other]) await tab.load("issue", { projectId: "p1" }).ready;
  await own.settle();
  const seen = new Set<string>();
  const ofAll = new Set<string>();
  for (const tab of [one, other])
    tab.subscribe(() => seen.add(tab.models.issue.status({ where: { projectId: "p1" } })));
  one.subscribe(() => ofAll.add(one.status().rows));
  await one.load("issue", { projectId: "p9" }).ready;
  await own.settle();
  expect([...ofAll]).toEqual(["partial", "complete"]);
  expect([...seen]).toEqual(["complete"]);
});

test("[R71] [R100] what the app follows of a model at all times, and models that are followed whole, are all that there is", async () => {
  const { models, of } = await start({ where: { issue: { projectId: "p1" } } });
  expect([of({}), models.note.status()]).toEqual(["complete", "complete"]);
  const some = await start({ models: ["issue"] });
  expect([some.of({}), some.models.note.status()]).toEqual(["complete", "partial"]);
});

test("[R71] [R98] a query with what it includes is complete only if all that its records may include was read", async () => {
  const { models, of, server, settle } = await start();
  server.commit(
    {
      operations: [{ action: "create", model: "project", id: "p9", data: {} }],
      clientTxId: "t",
      clientId: "c",
    } as never,
    "ben",
  );
  await settle();
  expect(of({ where: { projectId: "p1" }, include: { project: true } })).toBe("complete");
  expect(models.project.status({ include: { issues: true } })).toBe("partial");
  expect(models.project.status({ include: { issues: { where: { projectId: "p1" } } } })).toBe("complete");
  expect(models.project.status({ where: { id: "p1" }, include: { issues: true } })).toBe("complete");
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
