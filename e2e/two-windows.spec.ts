import { createDeck, entriesOf } from "./support/log.ts";
import { expect, test } from "./support/test.ts";

test("two windows of one person show the same, offline too, and send each edit once", async ({ demo, open }) => {
  const deck = await createDeck(demo, ["One", "Two"]);
  const first = await open("ada", deck.id);
  const second = await open("ada", deck.id, { beside: first });

  await first.rename(1, "From the first");
  await expect(second.title(1)).toHaveValue("From the first");

  await first.workOffline();
  await expect(second.status("Working offline")).toBeVisible();
  await first.rename(1, "Offline, first window");
  await second.rename(2, "Offline, second window");
  await second.shows(["Offline, first window", "Offline, second window"]);
  await first.shows(["Offline, first window", "Offline, second window"]);

  await second.comeBack();
  await first.isSaved();
  await second.isSaved();
  for (const [at, count] of [2, 1].entries()) {
    const updates = (await entriesOf(demo, deck.slideIds[at] ?? "")).filter((entry) => entry.verb === "updated");
    expect(updates).toHaveLength(count);
  }
});

test("the remaining window takes over sending when the leader closes", async ({ demo, open }) => {
  const deck = await createDeck(demo, ["One"]);
  const first = await open("ada", deck.id);
  const second = await open("ada", deck.id, { beside: first });
  await first.page.close();
  await second.rename(1, "Still here");
  await second.isSaved();
  expect(await entriesOf(demo, deck.slideIds[0] ?? "")).toHaveLength(2);
});
