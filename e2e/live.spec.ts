import { createDeck, entriesOf } from "./support/log.ts";
import { expect, test } from "./support/test.ts";

test("two people see each other's edits, new slides, moves and deletions live", async ({ openBoth }) => {
  const { ada, ben } = await openBoth(["One", "Two", "Three"]);

  await ada.rename(1, "First");
  await ben.rewrite(2, "Written by Ben");
  await expect(ben.title(1)).toHaveValue("First");
  await expect(ada.text(2)).toHaveValue("Written by Ben");

  await ben.press("Add a slide");
  await expect(ben.title(4)).toBeFocused();
  await ben.rename(4, "Four");
  await ada.shows(["First", "Two", "Three", "Four"]);

  await ada.press("Move “Four” up");
  await ben.shows(["First", "Two", "Four", "Three"]);

  await ada.press("Delete “Two”");
  await ben.shows(["First", "Four", "Three"]);
  await ada.press("Undo");
  await ben.shows(["First", "Two", "Four", "Three"]);
  await ada.isSaved();
  await ben.isSaved();
});

test("typing is one change, not one for each key", async ({ demo, open }) => {
  const deck = await createDeck(demo, ["One"]);
  const ada = await open("ada", deck.id);
  await ada.title(1).fill("");
  await ada.title(1).pressSequentially("A title of many letters", { delay: 15 });
  await ada.title(1).blur();
  await ada.isSaved();
  const updates = (await entriesOf(demo, deck.slideIds[0] ?? "")).filter((entry) => entry.verb === "updated");
  expect(updates.map((entry) => entry.data?.title)).toEqual(["A title of many letters"]);
});

test("Escape takes back what was typed and not saved", async ({ demo, open }) => {
  const deck = await createDeck(demo, ["One"]);
  const ada = await open("ada", deck.id);
  await ada.title(1).fill("Not this");
  await ada.title(1).press("Escape");
  await expect(ada.title(1)).toHaveValue("One");
  await ada.isSaved();
  expect(await entriesOf(demo, deck.slideIds[0] ?? "")).toHaveLength(1);
});
