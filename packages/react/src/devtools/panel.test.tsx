import { createClient } from "@holdfast/sdk/node";
import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { until } from "../../../../scripts/testing/until.ts";
import { SyncProvider } from "../index.ts";
import { type BoardSchema, boardSchema } from "../testing/board-schema.ts";
import { createMemoryClient, type MemoryClient } from "../testing/memory-client.ts";
import { type DevtoolsProps, HoldfastDevtools } from "./index.ts";

let memory: MemoryClient<BoardSchema>;
beforeEach(() => {
  memory = createMemoryClient<BoardSchema>(["slide"]);
});
afterEach(cleanup);

const page = (props: DevtoolsProps, client = memory.client) => (
  <StrictMode>
    <SyncProvider client={client}>
      <HoldfastDevtools {...props} />
    </SyncProvider>
  </StrictMode>
);
const shown = (client = memory.client) => render(page({ defaultOpen: true }, client));
const open = (tab: string) => fireEvent.click(screen.getByRole("tab", { name: new RegExp(`^${tab}`) }));
const cells = (table: string) =>
  within(screen.getByRole("table", { name: table }))
    .getAllByRole("row")
    .map((row) => row.textContent);

test("[V21] a waiting write is shown field by field, beside what is shown without it", async () => {
  const client = createClient({ schema: boardSchema, url: "http://127.0.0.1:9", getToken: () => "", paused: true });
  const { id, queued } = client.models.slide.create({ title: "One", deckId: "d1" });
  await queued;
  await client.models.slide.update(id, { title: "Two" }).queued;
  shown(client as unknown as typeof memory.client);
  expect(screen.getByRole("tabpanel").textContent).toContain("ConnectionPaused by the app.");
  open("Queue");
  await until(() => expect(screen.getAllByRole("table")).toHaveLength(2));
  await until(() =>
    expect(screen.getAllByRole("table").map((table) => table.textContent)).toContain(
      "FieldWithout itMinetitle“One”“Two”",
    ),
  );
  await act(() => client.close());
});

test("[V21] [V46] a refused write can be retried, edited, exported, and discarded when asked twice", async () => {
  const calls: unknown[] = [];
  const write = { receipt: new Promise(() => {}) };
  const operations = [{ action: "update", model: "slide", id: "s1", data: { title: "Too long" } }];
  const item = {
    ...{
      clientTxId: "t1",
      code: "invalid_value",
      error: new Error("The title is too long."),
      operations,
      createdAt: 1,
    },
    retry: () => calls.push("retry") && write,
    edit: (edited: unknown) => calls.push(edited) && write,
    discard: () => calls.push("discard"),
  };
  memory.export({ writes: [{ clientTxId: "t1", operations: [{ base: { title: "Short" } }] }] });
  act(() => memory.set({ attention: [item] as never, status: { ...memory.client.status(), attention: 1 } }));
  shown();
  open("To decide \\(1\\)");
  await until(() => expect(cells("What was refused for slide s1").at(1)).toBe("title“Short”“Too long”"));
  const press = (name: string) => fireEvent.click(screen.getByRole("button", { name }));
  press("Retry");
  press("Discard");
  expect(calls).toEqual(["retry"]);
  press("Discard permanently");
  expect(calls).toEqual(["retry", "discard"]);

  press("Edit");
  const text = screen.getByRole<HTMLTextAreaElement>("textbox");
  expect(JSON.parse(text.value)).toEqual(operations);
  fireEvent.change(text, { target: { value: "{" } });
  press("Send these instead");
  expect(screen.getByRole("alert").textContent).toMatch(/JSON/);
  const edited = [{ ...operations[0], data: { title: "Short" } }];
  fireEvent.change(text, { target: { value: JSON.stringify(edited) } });
  press("Send these instead");
  expect(calls.at(-1)).toEqual(edited);

  const file = await downloaded(() => press("Export"));
  expect(file).toMatchObject({ name: "holdfast-refused-t1.json", value: { code: "invalid_value", operations } });
});

test("[V21] [V46] a conflict shows mine, theirs and what was there, and is decided by a button", async () => {
  const keepMine = vi.fn(() => ({ receipt: Promise.reject(new Error("held again")) }));
  const takeTheirs = vi.fn();
  const merge = vi.fn(() => ({ receipt: Promise.resolve() }));
  const conflict = {
    ...{ clientTxId: "t1", reason: "stale", model: "slide", id: "s1", action: "update", fields: ["title"] },
    ...{
      mine: { title: "A longer title" },
      base: { title: "A title" },
      theirs: { title: "The title" },
      writtenBy: "human:u1",
    },
    ...{ keepMine, takeTheirs, merge },
  };
  act(() => memory.set({ conflicts: [conflict] as never }));
  shown();
  open("To decide");
  expect(cells("The conflict about slide s1")).toEqual([
    "FieldWithout itMineTheirs",
    "title“A title”“A longer title”“The title”",
  ]);
  expect([...document.querySelectorAll("td mark")].map((mark) => mark.textContent)).toEqual(["longer ", "The"]);
  fireEvent.click(screen.getByRole("button", { name: "Keep mine" }));
  fireEvent.click(screen.getByRole("button", { name: "Take theirs" }));
  expect(keepMine.mock.calls.length).toBe(1);
  expect(takeTheirs.mock.calls.length).toBe(1);

  fireEvent.click(screen.getByRole("button", { name: "Merge" }));
  const text = screen.getByRole<HTMLTextAreaElement>("textbox");
  expect(JSON.parse(text.value)).toEqual({ title: "A longer title" });
  fireEvent.change(text, { target: { value: '{"title":"The longer title"}' } });
  fireEvent.click(screen.getByRole("button", { name: "Send this instead" }));
  expect(merge.mock.calls).toEqual([[{ title: "The longer title" }]]);
  const file = await downloaded(() => fireEvent.click(screen.getByRole("button", { name: "Export" })));
  expect(file).toMatchObject({
    name: "holdfast-conflict-t1.json",
    value: { mine: { title: "A longer title" }, base: { title: "A title" }, theirs: { title: "The title" } },
  });
});

test.each([
  [{ leads: true }, "This tab: it syncs for all tabs of this browser profile."],
  [{ leads: false }, "Another tab: it syncs for this tab."],
  [{ leads: false, name: "paused" }, "Not this tab while it is paused."],
  [{ leads: false, storage: "memory" }, "This tab syncs only for itself: it has no local store."],
] as const)("[V21] who leads is said in words: %o", (change, says) => {
  act(() => memory.set({ status: { ...memory.client.status(), ...change } }));
  shown();
  expect(screen.getByRole("tabpanel").textContent).toContain(`Leader${says}`);
});

test("[V21] held records come first, and one line counts the others", async () => {
  const claim = { actor: "ben", participantKind: "user", field: undefined, description: "Typing", fence: 7 };
  const answers: Record<string, object> = {
    s3: { state: "known", holders: [{ ...claim, isMine: false }], queue: [{ ...claim, actor: "cleo" }] },
    s4: { state: "unknown", why: "connection", holders: [], queue: [] },
  };
  const free = { state: "known", holders: [], queue: [] };
  const client = Object.assign(memory.client, {
    claims: {
      watch: () => () => {},
      of: (_: string, id: string) => answers[id] ?? free,
    },
  });
  render(page({ defaultOpen: true, records: ["s1", "s2", "s3", "s4"].map((id) => ["slide", id] as const) }, client));
  open("Claims");
  expect(screen.getAllByRole("listitem").map((item) => item.textContent)).toEqual([
    "slide s3user:ben holds it (fence 7): Typing. Waiting: user:cleo.",
    "Freeslide s1, s2",
    "Unknown: there is no connection.slide s4",
  ]);
});

test("[V22] events are listed, exported, and stepped through, and the running client is left alone", async () => {
  shown();
  act(() => memory.set({ status: { ...memory.client.status(), name: "offline" } }));
  act(() => memory.set({ status: { ...memory.client.status(), name: "online" } }));
  open("Events");
  const list = screen.getByRole("list", { name: /Events/ });
  expect(within(list).getAllByRole("listitem")[0]?.textContent).toContain("Connected.");
  const exported = await downloaded(() => fireEvent.click(screen.getByRole("button", { name: "Export events" })));
  expect(exported.name).toBe("holdfast-events.json");

  const choose = (text: string) => {
    const file = new File([text], "events.json", { type: "application/json" });
    fireEvent.change(screen.getByLabelText("Step through a file"), { target: { files: [file] } });
  };
  choose("[]");
  expect((await screen.findByRole("alert")).textContent).toContain("not a list of events");
  choose(JSON.stringify(exported.value));
  expect((await screen.findByRole("status")).textContent).toContain("The recording starts.");
  fireEvent.click(screen.getByRole("button", { name: "Forward" }));
  expect(screen.getByRole("status").textContent).toContain("Offline");
  expect(screen.getByRole("tabpanel").textContent).toContain("ConnectionOffline");
  fireEvent.change(screen.getByRole("slider"), { target: { value: "2" } });
  expect(screen.getByRole("status").textContent).toContain("Connected.");
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Forward" }).disabled).toBe(true);
  fireEvent.click(screen.getByRole("button", { name: "Back to now" }));
  expect(memory.writes).toEqual([]);
});

test("[V23] arrows walk the tabs, Escape closes and gives the focus back, and everything that can be operated has a name", () => {
  const { container, unmount } = shown();
  const tabs = screen.getAllByRole("tab");
  tabs[0]?.focus();
  fireEvent.keyDown(tabs[0]!, { key: "ArrowRight" });
  expect(document.activeElement?.textContent).toBe("Queue (0)");
  expect(screen.getByRole("tabpanel").getAttribute("aria-labelledby")).toBe(document.activeElement?.id);
  fireEvent.keyDown(document.activeElement!, { key: "End" });
  expect(document.activeElement?.textContent).toBe("Events");
  fireEvent.keyDown(document.activeElement!, { key: "ArrowRight" });
  expect(document.activeElement?.textContent).toBe("Status");
  for (const tab of ["Status", "Queue", "To decide", "Claims", "Presence", "Events"]) {
    open(tab);
    for (const each of container.querySelectorAll<HTMLInputElement>("button, input, textarea, select, [tabindex]")) {
      const name = each.getAttribute("aria-label") ?? each.labels?.[0]?.textContent ?? each.textContent;
      expect(`${tab}: ${name}`).not.toMatch(/: (null|)$/);
    }
  }
  fireEvent.keyDown(screen.getByRole("tabpanel"), { key: "Escape" });
  expect(document.activeElement).toBe(screen.getByRole("button", { name: /^Open Holdfast devtools/ }));
  fireEvent.click(document.activeElement!);
  expect(document.activeElement?.getAttribute("role")).toBe("tab");
  unmount();
  expect(memory.listeners()).toBe(0);
});

test("[V23] a panel that the app opens on demand takes the focus, and returns it when closed", () => {
  const onClose = vi.fn();
  const app = (isOpen: boolean) => (
    <>
      <button type="button">Look inside</button>
      {isOpen && page({ onClose })}
    </>
  );
  const { rerender } = render(app(false));
  const button = screen.getByRole("button", { name: "Look inside" });
  button.focus();
  rerender(app(true));
  expect(document.activeElement?.textContent).toBe("Status");
  expect(screen.queryByRole("button", { name: /^Open Holdfast/ })).toBeNull();
  fireEvent.keyDown(document.activeElement!, { key: "Escape" });
  expect(onClose).toHaveBeenCalledOnce();
  rerender(app(false));
  expect(document.activeElement).toBe(button);
});

test("[V23] its rules reach nothing outside of it, and a server renders nothing", () => {
  const { container } = shown();
  const css = container.querySelector("style")?.textContent ?? "";
  const selectors = [...css.matchAll(/(?:^|\}|\{)\s*([^{}@]+)\{/g)].map(([, selector = ""]) => selector.trim());
  expect(selectors.length).toBeGreaterThan(20);
  // A comma within `:is(…)` separates nothing at the top.
  const alone = selectors.flatMap((selector) => selector.replace(/\([^)]*\)/g, "").split(","));
  expect(alone.filter((selector) => !selector.trim().startsWith(".holdfast-devtools"))).toEqual([]);
  expect(
    renderToString(
      <SyncProvider client={undefined}>
        <HoldfastDevtools defaultOpen />
      </SyncProvider>,
    ),
  ).toBe("");
});

/** The file that a click hands to the user. */
async function downloaded(click: () => void): Promise<{ name: string; value: Record<string, unknown> }> {
  const blobs: Blob[] = [];
  const names: string[] = [];
  vi.spyOn(URL, "createObjectURL").mockImplementation((blob) => {
    blobs.push(blob as Blob);
    return "blob:made";
  });
  vi.spyOn(URL, "revokeObjectURL").mockImplementation(() => {});
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
    names.push(this.download);
  });
  click();
  await until(() => expect(names).toHaveLength(1));
  return { name: names[0]!, value: JSON.parse(await blobs[0]!.text()) };
}
