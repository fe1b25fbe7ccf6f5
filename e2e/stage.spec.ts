import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { violations } from "./support/axe.ts";
import type { Board } from "./support/board.ts";
import { commit, createDeck } from "./support/log.ts";
import { expect, test } from "./support/test.ts";

/** Whether a slide's title is in sight. */
const sees = (board: Board, slide: number) => expect(board.title(slide)).toBeInViewport();

test("[Y13] the view stays where a person edits", async ({ demo, open }) => {
  const deck = await createDeck(demo, ["One", "Two", "Three", "Four", "Five", "Six", "Seven", "Teh last"]);
  const ada = await open("ada", deck.id);
  await ada.press("Let it proofread this deck");
  await ada.title(1).focus();
  await expect(ada.page.getByText("Done, 1 slide changed.")).toBeVisible();
  await sees(ada, 1);
});

test("[Y14] an import can be replayed, as a deck of its own", async ({ demo, open }) => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-replay-"));
  const name = `Notes ${randomUUID().slice(0, 4)}`;
  await writeFile(join(folder, "notes.md"), `# ${name}\n\n## First\n\nText.\n\n## Second\n\nText.\n`);
  const { printed } = await demo.import(join(folder, "notes.md"), "--pace", "0");
  const ada = await open("ada", /deck=(\S+)/.exec(printed)?.[1] ?? "");
  await ada.rename(1, "Ada’s first");
  await ada.isSaved();
  await ada.press("Replay this import");
  await expect(ada.page.getByRole("heading", { level: 1 })).toHaveText(`${name} (2)`);
  await expect(ada.page.getByRole("progressbar", { name: "Passages read" })).toBeVisible();
  await ada.shows(["First", "Second"]);
  await expect(ada.page.getByText("The agent has read all 2 passages.")).toBeVisible();
  await ada.page.goBack();
  await ada.shows(["Ada’s first", "Second"]);
  await ada.press("Replay this import");
  await expect(ada.page.getByRole("heading", { level: 1 })).toHaveText(`${name} (3)`);
  await rm(folder, { recursive: true });
});

test("[Y15] the note about a deleted slide covers no control", async ({ demo, open }) => {
  const deck = await createDeck(demo, ["One", "Two", "Three"]);
  const ada = await open("ada", deck.id);
  for (const width of [1280, 640, 390]) {
    await ada.page.setViewportSize({ width, height: 700 });
    await ada.press("Delete “Three”");
    await expect(ada.title(2)).toBeFocused();
    await expect(ada.status("Deleted “Three”.")).toBeAttached();
    await expect(ada.page.getByRole("button", { name: "Undo" })).toBeInViewport();
    await expect.poll(() => ada.page.evaluate(coveredControls), `at ${width}`).toEqual([]);
    expect(await violations(ada.page)).toEqual([]);
    await ada.press("Undo");
    await ada.shows(["One", "Two", "Three"]);
    await ada.isSaved();
  }
  await ada.press("Delete “One”");
  await expect(ada.title(1)).toBeFocused();
  await ada.press("Close this note");
  await expect(ada.page.getByRole("button", { name: "Undo" })).toBeHidden();
});

test("[Y15] “Needs your decision” leads to the decision, from the slide and from the top", async ({ openBoth }) => {
  const { ada, ben } = await openBoth(["One", "Two"]);
  await ada.workOffline();
  await ada.rename(2, "Ada’s");
  await ben.rename(2, "Ben’s");
  await ben.isSaved();
  await ada.comeBack();
  const address = ada.page.url();
  const dialog = ada.page.getByRole("dialog");
  for (const place of [ada.card(2), ada.page.getByRole("banner")]) {
    await place.getByRole("link", { name: "Needs your decision" }).click();
    await expect(dialog).toContainText("Ada’s");
    await ada.press("Decide later");
    await expect(dialog).toBeHidden();
    expect(ada.page.url()).toBe(address);
  }
  expect(await violations(ada.page)).toEqual([]);
});

test("[Y15] a Markdown table is drawn, until its text is edited", async ({ demo, open }) => {
  const deck = await createDeck(demo, ["One"]);
  const notes = "Before\n\n| Who | When |\n| --- | --- |\n| Ada | Monday |";
  await commit(demo, [{ action: "update", model: "slide", id: deck.slideIds[0], data: { notes } }]);
  const ada = await open("ada", deck.id);
  const table = ada.card(1).getByRole("table");
  await expect(table.getByRole("columnheader")).toHaveText(["Who", "When"]);
  await expect(table.getByRole("cell")).toHaveText(["Ada", "Monday"]);
  expect(await violations(ada.page)).toEqual([]);
  await ada.text(1).click();
  await expect(table).toBeHidden();
  await ada.rewrite(1, notes.replace("Monday", "Friday"));
  await expect(table.getByRole("cell")).toHaveText(["Ada", "Friday"]);
});

/** The names of the controls in sight at whose middle something else is. */
function coveredControls(): string[] {
  const bar = document.querySelector("header")?.getBoundingClientRect().bottom ?? 0;
  return [...document.querySelectorAll<HTMLElement>("main button:enabled, main a, main textarea")]
    .filter((control) => {
      const { left, top, width, height } = control.getBoundingClientRect();
      const [x, y] = [left + width / 2, top + height / 2];
      if (width === 0 || y < bar || y > innerHeight || x < 0 || x > innerWidth) return false;
      const there = document.elementFromPoint(x, y);
      return there !== control && !control.contains(there);
    })
    .map((control) => control.getAttribute("aria-label") ?? control.textContent ?? "");
}
