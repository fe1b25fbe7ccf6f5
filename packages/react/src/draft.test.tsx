import type { SyncClient } from "@holdfast/sdk";
import { createTestServer } from "@holdfast/sdk/testing";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { StrictMode, useState } from "react";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { afterEach, expect, test, vi } from "vitest";
import { until } from "../../../scripts/testing/until.ts";
import { HydrationBoundary, type Snapshot, SyncProvider, useUndo } from "./index.ts";
import { type BoardSchema, boardSchema, useDraft } from "./testing/board-schema.ts";

afterEach(() => {
  cleanup();
  document.body.innerHTML = "";
});

function Note({ id, pauseMs = 100_000 }: { id: string; pauseMs?: number }) {
  const { value, set, commit, discard, dirty, conflict } = useDraft("note", id, "body", { pauseMs });
  return (
    <>
      <textarea value={value} onChange={(event) => set(event.target.value)} onBlur={commit} />
      <button type="button" onClick={discard}>
        {dirty ? "Discard" : "Saved"}
      </button>
      {conflict && <p>Conflict</p>}
    </>
  );
}

type Client = SyncClient<BoardSchema>;

/** Waits until a check holds, and lets React apply what timers change meanwhile. */
const becomes = (check: () => void) =>
  until(async () => {
    await act(async () => {});
    check();
  });

function Page({ client }: { client: Client }) {
  const [id, show] = useState<string>("n");
  return (
    <StrictMode>
      <SyncProvider client={client}>
        {id && <Note id={id} />}
        <button type="button" onClick={() => show("m")}>
          Other
        </button>
        <button type="button" onClick={() => show("")}>
          None
        </button>
      </SyncProvider>
    </StrictMode>
  );
}

function SentPage({ client, snapshot }: { client: Client | undefined; snapshot: Snapshot }) {
  return (
    <SyncProvider client={client}>
      <HydrationBoundary state={snapshot}>
        <Note id="n" />
      </HydrationBoundary>
    </SyncProvider>
  );
}

/** Ann's page with one note, which Ben writes too. */
async function openPage() {
  const own = createTestServer(boardSchema);
  const [ann, ben] = [own.client({ actor: "ann" }), own.client({ actor: "ben" })];
  await Promise.all([ann.client.ready(), ben.client.ready()]);
  for (const id of ["n", "m"]) ann.client.models.note.create({ body: `${id} one two three` }, { id });
  await own.settle();
  render(<Page client={ann.client} />);
  const settle = () =>
    act(async () => {
      for (let i = 0; i < 4; i++) await own.settle();
    });
  await settle();
  const text = () => screen.getByRole<HTMLTextAreaElement>("textbox");
  return {
    ...{ ...own, ann, settle, text },
    type: (value: string) => fireEvent.change(text(), { target: { value } }),
    click: (name: string) => fireEvent.click(screen.getByText(name)),
    stored: (id = "n") => own.server.rows.get(`note/${id}`)?.data.body,
    written: () => own.server.log.filter(({ actor }) => actor === "ann").length - 2,
    async others(body: string) {
      ben.client.models.note.update("n", { body });
      await settle();
    },
  };
}

test("[V31] a field shows what is typed at once, and is written on blur", async () => {
  const { text, type, settle, stored, written } = await openPage();
  expect(text().value).toBe("n one two three");
  type("n uno two three");
  expect(text().value).toBe("n uno two three");
  expect(screen.getByText("Discard")).toBeTruthy();
  await settle();
  expect(written()).toBe(0);
  fireEvent.blur(text());
  await settle();
  expect([stored(), written()]).toEqual(["n uno two three", 1]);
  expect(screen.getByText("Saved")).toBeTruthy();
  fireEvent.blur(text());
  await settle();
  expect(written()).toBe(1);
});

test("[V31] discard shows the stored text again", async () => {
  const { text, type, click, settle, written } = await openPage();
  type("dropped");
  click("Discard");
  expect(text().value).toBe("n one two three");
  await settle();
  expect(written()).toBe(0);
});

test.each([
  ["the component unmounts", (click: (name: string) => void) => click("None")],
  ["another record is shown", (click: (name: string) => void) => click("Other")],
  ["the page is left", () => fireEvent(window, new Event("pagehide"))],
  [
    "the page is hidden",
    () => {
      vi.spyOn(document, "visibilityState", "get").mockReturnValueOnce("hidden");
      fireEvent(document, new Event("visibilitychange"));
    },
  ],
])("[V31] what is typed is written before %s", async (_, leave) => {
  const { type, click, settle, stored, written, text } = await openPage();
  type("n typed");
  act(() => leave(click));
  await settle();
  expect([stored("n"), stored("m"), written()]).toEqual(["n typed", "m one two three", 1]);
  if (screen.queryByRole("textbox")) expect(text().value).toMatch(/^(n typed|m one two three)$/);
});

test("[V31] it is written after a pause in typing, once", async () => {
  const { ann, settle, stored, written } = await openPage();
  cleanup();
  render(
    <SyncProvider client={ann.client}>
      <Note id="n" pauseMs={40} />
    </SyncProvider>,
  );
  for (const value of ["n 1", "n 12", "n 123"]) fireEvent.change(screen.getByRole("textbox"), { target: { value } });
  await becomes(() => expect(stored()).toBe("n 123"));
  await settle();
  expect(written()).toBe(1);
});

function Undoable() {
  const { record, undo } = useUndo();
  const { value, set } = useDraft("note", "n", "body", { pauseMs: 40, onWrite: record });
  return (
    <>
      <textarea value={value} onChange={(event) => set(event.target.value)} />
      <button type="button" onClick={() => undo()}>
        Undo
      </button>
    </>
  );
}

test("[V31] onWrite is told of what is written after a pause, so that useUndo can take it back", async () => {
  const { ann, settle, stored } = await openPage();
  cleanup();
  render(
    <SyncProvider client={ann.client}>
      <Undoable />
    </SyncProvider>,
  );
  fireEvent.change(screen.getByRole("textbox"), { target: { value: "n typed" } });
  await becomes(() => expect(stored()).toBe("n typed"));
  fireEvent.click(screen.getByText("Undo"));
  await settle();
  expect([stored(), screen.getByRole<HTMLTextAreaElement>("textbox").value]).toEqual(Array(2).fill("n one two three"));
});

test("[V31] [V47] words of others come into the text, and the caret keeps its place", async () => {
  const { text, type, settle, others, stored } = await openPage();
  text().focus();
  type("n one two three four");
  text().setSelectionRange(20, 20);
  await others("n uno mas two three");
  expect(text().value).toBe("n uno mas two three four");
  expect([text().selectionStart, text().selectionEnd]).toEqual([24, 24]);
  fireEvent.blur(text());
  await settle();
  expect(stored()).toBe("n uno mas two three four");
});

test("[V31] [V47] during a composition nothing changes under it, and nothing is lost after it", async () => {
  const { text, type, settle, others, stored, written } = await openPage();
  fireEvent.compositionStart(text());
  await others("n one zwei three");
  expect(text().value).toBe("n one two three");
  type("n one two three に");
  await others("n one zwei drei");
  expect(text().value).toBe("n one two three に");
  fireEvent.compositionEnd(text());
  // As in Firefox, where the last input event comes after the end.
  type("n one two three 日本");
  await becomes(() => expect(text().value).toBe("n one zwei drei 日本"));
  expect(written()).toBe(0);
  fireEvent.blur(text());
  await settle();
  expect([stored(), text().value]).toEqual(["n one zwei drei 日本", "n one zwei drei 日本"]);
});

test("[V31] after a composition the words of others come in", async () => {
  const { text, type, others } = await openPage();
  fireEvent.compositionStart(text());
  type("に n one two three");
  await others("n one two drei");
  expect(text().value).toBe("に n one two three");
  fireEvent.compositionEnd(text());
  await becomes(() => expect(text().value).toBe("に n one two drei"));
});

test("[V31] [V17] a server renders the snapshot's text, and hydration finds it", async () => {
  const own = createTestServer(boardSchema);
  const { client } = own.client({ paused: true });
  const rows = [{ id: "n", body: "from the page" }];
  const snapshot = { syncId: 7, answers: [{ model: "note", query: "n", rows }] };
  const complaints = vi.spyOn(console, "error").mockImplementation(() => {});
  const html = renderToString(<SentPage client={undefined} snapshot={snapshot} />);
  expect(html).toContain("from the page");
  const root = document.createElement("div");
  root.innerHTML = html;
  document.body.append(root);
  await act(async () => {
    hydrateRoot(root, <SentPage client={client} snapshot={snapshot} />);
  });
  expect(root.querySelector("textarea")?.value).toBe("from the page");
  expect(complaints).not.toHaveBeenCalled();
  complaints.mockRestore();
  await client.close();
});
