import { SyncProvider } from "@holdfast/react";
import { createTestServer } from "@holdfast/sdk/testing";
import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { App } from "../src/app.tsx";
import { LIST_ID, schema } from "../src/schema.ts";

afterEach(cleanup);

// A server in memory, whose clock moves only when the test moves it. More: the page "Test your app" of the documentation.
test("two people change one title while one of them is offline, and that one decides", async () => {
  const { server, client, settle, clock } = createTestServer(schema);
  const ann = client({ actor: "ann" });
  const ben = client({ actor: "ben" });
  await Promise.all([ann.client.ready(), ben.client.ready()]);
  await ben.client.models.task.create({ listId: LIST_ID, title: "Buy milk" }, { id: "t1" }).receipt;
  await settle();
  render(
    <SyncProvider client={ann.client}>
      <App user="ann" />
    </SyncProvider>,
  );
  const title = () => screen.getByRole<HTMLInputElement>("textbox", { name: "Title" }).value;
  expect(title()).toBe("Buy milk");

  ann.offline();
  const field = screen.getByRole("textbox", { name: "Title" });
  fireEvent.change(field, { target: { value: "Buy oat milk" } });
  fireEvent.blur(field);
  await act(settle);
  expect(title()).toBe("Buy oat milk");
  await act(async () => void (await ben.client.models.task.update("t1", { title: "Buy bread" }).receipt));

  ann.online();
  await act(settle);
  await act(async () => clock.advance(10_000));
  await act(settle);
  const card = screen.getByRole("region", { name: "You and ben changed the title." });
  fireEvent.click(within(card).getByRole("button", { name: "Keep mine" }));
  await act(settle);
  expect(screen.queryByRole("region", { name: /changed the title/ })).toBeNull();
  expect([...server.rows.values()].map(({ data }) => data.title)).toEqual(["Buy oat milk"]);

  await Promise.all([ann.client.close(), ben.client.close()]);
});
