import { describe, expect, test } from "vitest";
import { compileConditions } from "../../packages/sdk/src/api/lists/conditions.ts";
import { listQuery } from "../../packages/sdk/src/api/lists/list-query.ts";
import type { SyncError } from "../../packages/sdk/src/errors.ts";
import { createTestServer } from "../../packages/sdk/src/testing/test-server.ts";
import { readListQuery, readQueryPage } from "../../packages/server/src/kernel/lists/rules/list-query.ts";
import { inWords, mistyped, type QueryCases, queryCases, wrongQueries } from "./query-cases.ts";

/** A client that has the records of the cases. */
async function openModel(name: string, { model: shape, rows }: QueryCases) {
  const { client: open } = createTestServer({ models: { [name]: shape } });
  const { client } = open();
  await client.ready();
  const model = (client.models as unknown as Record<string, Untyped>)[name] as Untyped;
  for (const [id, data] of Object.entries(rows)) model.create(data, { id });
  return { client, model };
}

describe.each(Object.entries(queryCases))(
  "[R61] [G26] a client finds what a list over HTTP finds: %s",
  (name, cases) => {
    test.each(cases.finds)("%j", async (query, ids) => {
      const { client, model } = await openModel(name, cases);
      const found = model.list(query).map(({ id }) => id);
      expect(found.join(" ")).toBe(ids);
      await client.close();
    });
  },
);

describe.each(Object.entries(queryCases))(
  "[R26] [G34] a client counts what a query over HTTP counts: %s",
  (name, cases) => {
    test.each(cases.counts)("%s of %j", async (field, query, counts) => {
      const { client, model } = await openModel(name, cases);
      expect(inWords([...model.countBy(field, query)])).toEqual(counts.toSorted());
      expect(model.count(query)).toBe(model.list(query).length);
      await client.close();
    });
  },
);

interface Untyped {
  create(data: unknown, options: { id: string }): unknown;
  list(query: unknown): readonly { readonly id: string }[];
  count(query: unknown): number;
  countBy(field: string, query: unknown): ReadonlyMap<unknown, number>;
}

test.each(mistyped.finds)("[R61] [R93] a client finds by %j what is of its field's type: %s", (where, ids) => {
  const isMet = compileConditions("mistyped", mistyped.model, where);
  const found = Object.entries(mistyped.rows).flatMap(([id, data]) => (isMet({ id, ...data }) ? id : []));
  expect(found.join(" ")).toBe(ids);
});

test.each(wrongQueries)("[R70] [G28] a client and a server refuse %j alike", (query, param) => {
  const { model } = queryCases.tasks as (typeof queryCases)["tasks"] & object;
  let error: SyncError | undefined;
  try {
    listQuery("tasks", query, model);
  } catch (thrown) {
    error = thrown as SyncError;
  }
  const page = readQueryPage(query);
  const refused = "code" in page ? page : readListQuery(query, model, (name) => name);
  expect(error?.param).toBe(param);
  expect(refused).toMatchObject({ param, code: error?.code });
});
