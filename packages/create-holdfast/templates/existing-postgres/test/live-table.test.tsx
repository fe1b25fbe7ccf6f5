import { SyncProvider } from "@holdfast/react";
import { defineSchema } from "@holdfast/sdk";
import { createTestServer } from "@holdfast/sdk/testing";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { LiveTable } from "../src/live-table.tsx";

afterEach(cleanup);

const schema = defineSchema({
  models: {
    task: { fields: { title: { type: "string", required: true }, done: { type: "boolean", default: false } } },
  },
});

// A server in memory, instead of your database. More: the page "Test your app" of the documentation.
test("the table shows what others change, and a tick in it is written", async () => {
  const { server, client, settle } = createTestServer(schema);
  const ann = client({ actor: "ann" });
  const ben = client({ actor: "ben" });
  await Promise.all([ann.client.ready(), ben.client.ready()]);
  render(
    <SyncProvider client={ann.client}>
      <LiveTable name="task" model={schema.models.task} />
    </SyncProvider>,
  );
  await act(async () => void (await ben.client.models.task.create({ title: "Call the bank" }, { id: "t1" }).receipt));
  await act(settle);
  expect(screen.getByLabelText("title of t1")).toHaveProperty("value", "Call the bank");

  fireEvent.click(screen.getByLabelText("done of t1"));
  await act(settle);
  expect([...server.rows.values()].map(({ data }) => data.done)).toEqual([true]);

  await Promise.all([ann.client.close(), ben.client.close()]);
});
