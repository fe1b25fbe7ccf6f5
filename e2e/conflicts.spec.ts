import { violations } from "./support/axe.ts";
import type { Board } from "./support/board.ts";
import type { Demo } from "./support/demo.ts";
import { createDeck, limitTitles, readRecord } from "./support/log.ts";
import { stopClock } from "./support/stop-clock.ts";
import { expect, test } from "./support/test.ts";

type Open = (person: string, deckId: string) => Promise<Board>;

/** Ada, offline, and Ben rename the same slide; then Ada comes back. */
async function quarrel(demo: Demo, open: Open) {
  const deck = await createDeck(demo, ["Before", "Other"]);
  const ada = await open("ada", deck.id);
  const ben = await open("ben", deck.id);
  await ada.workOffline();
  await ada.rename(1, "Ada’s title");
  await ben.rename(1, "Ben’s title");
  await ben.isSaved();
  await ada.comeBack();
  await expect(ada.card(1)).toContainText("Needs your decision");
  return { ada, ben, slideId: deck.slideIds[0] ?? "" };
}

test("a field changed by two people shows mine, the previous value, and theirs with the author's name", async ({
  demo,
  open,
}) => {
  const { ada, ben } = await quarrel(demo, open);
  await expect(ada.page.getByText("You and Ben both changed the title of")).toBeVisible();
  const dialog = await ada.openConflict();
  await expect(dialog.locator(".version")).toHaveText([
    /YoursAda’s title/,
    /BeforeBefore/,
    /Ben’sBen’s title/,
    /Merged, it would beAda’s title/,
  ]);
  await expect(ben.title(1)).toHaveValue("Ben’s title");

  await ada.press("Decide later");
  await expect(dialog).toBeHidden();
  await expect(ada.page.getByRole("heading", { name: "Needs your decision" })).toBeVisible();
});

for (const [choice, outcome] of [
  ["Keep mine", "Ada’s title"],
  ["Take theirs", "Ben’s title"],
  ["Save the merged text", "Ada’s and Ben’s title"],
] as const) {
  test(`“${choice}” ends with “${outcome}” on both sides`, async ({ demo, open }) => {
    const { ada, ben, slideId } = await quarrel(demo, open);
    const dialog = await ada.openConflict();
    await dialog.getByLabel("Or merge the two").fill("Ada’s and Ben’s title");
    await ada.press(choice);
    await expect(dialog).toBeHidden();
    await expect(ada.page.getByRole("heading", { name: "Needs your decision" })).toBeHidden();
    await ada.isSaved();
    await ada.shows([outcome, "Other"]);
    await ben.shows([outcome, "Other"]);
    expect(await readRecord(demo, "slide", slideId)).toMatchObject({ title: outcome });
  });
}

test("different fields of one slide do not conflict", async ({ openBoth }) => {
  const { ada, ben } = await openBoth(["Before"]);
  await ada.workOffline();
  await ada.rename(1, "Ada’s title");
  await ben.rewrite(1, "Ben’s text");
  await ben.isSaved();
  await ada.comeBack();
  await ada.isSaved();
  for (const board of [ada, ben]) {
    await expect(board.title(1)).toHaveValue("Ada’s title");
    await expect(board.text(1)).toHaveValue("Ben’s text");
    await expect(board.page.getByRole("heading", { name: "Needs your decision" })).toBeHidden();
  }
});

test("text that is being edited is not replaced, and saving it opens a conflict instead of overwriting", async ({
  demo,
  open,
}) => {
  const deck = await createDeck(demo, ["Before"]);
  const ada = await open("ada", deck.id, { prepare: (page) => page.clock.install() });
  const ben = await open("ben", deck.id);
  // Claims need a network.
  await ada.context.setOffline(true);
  await ben.rename(1, "Ben was quicker");
  await ben.rewrite(1, "Read by Ada’s window");
  await ben.isSaved();
  // A pause of 0.8 s would save. By the window's clock there is none, however long the keys take on a busy machine.
  await stopClock(ada.page);
  await ada.title(1).fill("Ada types on");
  await ada.context.setOffline(false);
  let typed = "Ada types on";
  await expect(async () => {
    await ada.title(1).pressSequentially(".");
    typed += ".";
    await ada.page.clock.runFor(200);
    expect(await ada.text(1).inputValue()).toBe("Read by Ada’s window");
  }).toPass({ intervals: [50] });
  await expect(ada.title(1)).toHaveValue(typed);
  await ada.page.clock.resume();
  await ada.title(1).press("Enter");
  await expect(ada.card(1)).toContainText("Needs your decision");
  await expect(ben.title(1)).toHaveValue("Ben was quicker");
});

test("deleting a slide that another person edits opens a conflict", async ({ openBoth }) => {
  const { ada, ben } = await openBoth(["Before", "Other"]);
  await ada.workOffline();
  await ada.press("Delete “Before”");
  await ben.rename(1, "Still needed");
  await ben.isSaved();
  await ada.comeBack();
  await expect(ada.page.getByText(/You deleted “.*”, and Ben changed it meanwhile\./)).toBeVisible();
  await ada.openConflict();
  await ada.press("Keep the slide");
  await ada.isSaved();
  await ada.shows(["Still needed", "Other"]);
  await ben.shows(["Still needed", "Other"]);
});

test("an edit of a slide that the other has deleted can be kept as a new slide", async ({ openBoth }) => {
  const { ada, ben } = await openBoth(["Before", "Other"]);
  await ada.workOffline();
  await ada.rename(1, "Worth keeping");
  await ben.press("Delete “Before”");
  await ben.isSaved();
  await ada.comeBack();
  await expect(ada.page.getByText("You changed “Before”, and Ben deleted it meanwhile.")).toBeVisible();
  await ada.openConflict();
  await ada.press("Add it as a new slide");
  await ada.isSaved();
  await ada.shows(["Other", "Worth keeping"]);
  await ben.shows(["Other", "Worth keeping"]);
});

test("a slide that was deleted and brought back offline, and renamed by another person, is decided as a whole", async ({
  openBoth,
}) => {
  const { ada, ben } = await openBoth(["Before", "Other"]);
  await ada.workOffline();
  await ada.press("Delete “Before”");
  await ada.press("Undo");
  await ben.rename(1, "Ben’s title");
  await ben.isSaved();
  await ada.comeBack();
  await ada.openConflict();
  await ada.press("Keep the slide");
  await ada.isSaved();
  await expect(ada.page.getByRole("region", { name: "Needs attention" })).toBeHidden();
  await ada.shows(["Ben’s title", "Other"]);
  await ben.shows(["Ben’s title", "Other"]);
});

test("a write that the server refuses waits for a decision, and discarding it shows the server's values", async ({
  demo,
  open,
}) => {
  const deck = await createDeck(demo, ["Before", "Other"]);
  const ada = await open("ada", deck.id);
  const endLimit = await limitTitles(demo, 20);
  try {
    await ada.rename(1, "Longer than the server allows");
    const attention = ada.page.getByRole("region", { name: "Needs attention" });
    await expect(attention).toContainText("Could not change “Longer than the server allows”.");
    expect(await violations(ada.page)).toEqual([]);
    await ada.press("Try again");
    await expect(attention).toContainText("Could not change");
    await ada.press("Discard");
    await expect(attention).toBeHidden();
    await ada.isSaved();
    await ada.shows(["Before", "Other"]);
  } finally {
    await endLimit();
  }
});
