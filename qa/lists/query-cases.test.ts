import { describe, expect, test } from "vitest";
import { listQuery } from "../../packages/sdk/src/api/lists/list-query.ts";
import type { SyncError } from "../../packages/sdk/src/errors.ts";
import { createTestServer } from "../../packages/sdk/src/testing/test-server.ts";
import { readListQuery, readQueryPage } from "../../packages/server/src/rules/lists/list-query.ts";
import { queryCases, wrongQueries } from "./query-cases.ts";

describe.each(Object.entries(queryCases))(
  "[R61] [G26] a client finds what a list over HTTP finds: %s",
  (name, cases) => {
    test.each(cases.finds)("%j", async (query, ids) => {
      const { client: open } = createTestServer({ models: { [name]: cases.model } });
      const { client } = open();
      await client.ready();
      const model = (client.models as unknown as Record<string, Untyped>)[name] as Untyped;
      for (const [id, data] of Object.entries(cases.rows)) model.create(data, { id });
      const found = model.list(query).map(({ id }) => id);
      expect(found.join(" ")).toBe(ids);
      await client.close();
    });
  },
);

interface Untyped {
  create(data: unknown, options: { id: string }): unknown;
  list(query: unknown): readonly { readonly id: string }[];
}

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
