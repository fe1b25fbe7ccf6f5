// task-title.test.tsx
import { createHooks, SyncProvider } from "@holdfast/react";
import { defineSchema } from "@holdfast/sdk";
import { createTestServer } from "@holdfast/sdk/testing";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

const schema = defineSchema({
  models: { task: { fields: { title: { type: "string", required: true } } } },
});
const { useMutation, useRecord, useSyncStatus } = createHooks<typeof schema>();

function TaskTitle({ id }: { id: string }) {
  const task = useRecord("task", id);
  const { update } = useMutation("task");
  const { pending } = useSyncStatus();
  return (
    <label>
      {pending > 0 ? "Saving…" : "Saved"}
      <input value={task?.title ?? ""} onChange={(event) => update(id, { title: event.target.value })} />
    </label>
  );
}

afterEach(cleanup);

test("an edit made offline is shown at once, and saved when the network is back", async () => {
  const { server, client, settle, clock } = createTestServer(schema);
  const ann = client();
  await ann.client.ready();
  await ann.client.models.task.create({ title: "Buy milk" }, { id: "t1" }).receipt;
  render(
    <SyncProvider client={ann.client}>
      <TaskTitle id="t1" />
    </SyncProvider>,
  );

  ann.offline();
  fireEvent.change(screen.getByRole("textbox"), { target: { value: "Buy bread" } });
  await act(settle);
  expect(screen.getByLabelText("Saving…")).toHaveProperty("value", "Buy bread");

  ann.online();
  await act(settle);
  await act(async () => clock.advance(1_000));
  await act(settle);
  expect(screen.getByLabelText("Saved")).toHaveProperty("value", "Buy bread");
  expect([...server.rows.values()].map(({ data }) => data.title)).toEqual(["Buy bread"]);

  await ann.client.close();
});
