import { expect, onTestFinished, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { createClient } from "../../index.ts";
import { defineSchema } from "../../protocol/schema/row-types.ts";

const schema = defineSchema({
  models: {
    project: { fields: { name: { type: "string" } } },
    task: {
      fields: { title: { type: "string" }, projectId: { type: "string", references: "project", inverse: "tasks" } },
    },
  },
});

test("[R31] in a browser, the code for relations is there when the client's rows are", async () => {
  const client = createClient({
    schema,
    url: "http://127.0.0.1:1",
    getToken: () => "none",
    paused: true,
    store: `relations-${crypto.randomUUID()}`,
  });
  onTestFinished(() => client.signOut({ pending: "discard" }));
  const told: unknown[] = [];
  client.models.project.subscribe({ include: { tasks: true } }, (rows) => told.push(rows));
  expect(told).toEqual([[]]);
  const { id: projectId } = client.models.project.create({ name: "P" });
  await client.models.task.create({ title: "T", projectId }).queued;
  await until(async () => expect(await told.at(-1)).toMatchObject([{ name: "P", tasks: [{ title: "T", projectId }] }]));
});
