import type { Page } from "@playwright/test";
import { violations } from "./support/axe.ts";
import { createDeck } from "./support/log.ts";
import { expect, test } from "./support/test.ts";

const opener = (page: Page) => page.getByRole("button", { name: "Look inside" });
const tab = (page: Page, name: string) => page.getByRole("tab", { name: new RegExp(`^${name}`) });
const body = (page: Page) => page.getByRole("tabpanel");

test("[Y30] the devtools are a chunk that is loaded on demand, work by keyboard, and axe finds nothing, light and dark", async ({
  demo,
  open,
}) => {
  const deck = await createDeck(demo, ["One", "Two"]);
  const loaded: string[] = [];
  const { page, workOffline, rename, isSaved } = await open("ada", deck.id, {
    prepare: async (fresh) => {
      await fresh.emulateMedia({ reducedMotion: "reduce" });
      fresh.on("response", (response) => {
        if (response.request().resourceType() === "script") loaded.push(response.url());
      });
    },
  });
  await isSaved();
  // By then the page has loaded all that it loads by itself, and its worker has fetched the same files.
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  await page.waitForLoadState("networkidle");
  await workOffline();
  await rename(1, "One, on a train");
  const before = loaded.length;
  expect(before).toBeGreaterThan(1);

  await opener(page).focus();
  await page.keyboard.press("Enter");
  await expect(tab(page, "Status")).toBeFocused();
  expect(loaded.slice(before).map((url) => new URL(url).pathname.replace(/-[\w-]+\.js$/, ""))).toEqual([
    "/assets/inside",
  ]);
  await page.keyboard.press("ArrowRight");
  await expect(tab(page, "Queue \\(1\\)")).toBeFocused();
  await expect(body(page).getByRole("row")).toHaveText(["FieldWithout itMine", "title“One”“One, on a train”"]);
  await expect(body(page).locator("mark")).toHaveText([", on a train"]);
  for (const name of ["Status", "Queue", "To decide", "Claims", "Presence", "Events"]) {
    await tab(page, name).click();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      expect(await violations(page), `${name}, ${colorScheme}`).toEqual([]);
    }
  }
  await expect(body(page).getByRole("listitem").last()).toContainText("The recording starts.");
  await page.keyboard.press("Escape");
  await expect(opener(page)).toBeFocused();
  await expect(body(page)).toHaveCount(0);
});

test("[Y30] with two tabs the devtools show the leader and the pending writes of both", async ({
  demo,
  open,
  expectedOnConsole,
}) => {
  expectedOnConsole.push(/ERR_INTERNET_DISCONNECTED/);
  const deck = await createDeck(demo, ["One", "Two"]);
  const first = await open("ada", deck.id);
  await first.isSaved();
  const second = await open("ada", deck.id, { beside: first });
  await second.isSaved();
  for (const { page } of [first, second]) await opener(page).click();
  await expect(body(first.page)).toContainText("LeaderThis tab");
  await expect(body(second.page)).toContainText("LeaderAnother tab");

  await first.context.setOffline(true);
  await second.rename(2, "Two, from the second tab");
  for (const { page } of [first, second]) {
    await tab(page, "Queue \\(1\\)").click();
    await expect(body(page).getByRole("row").last()).toHaveText("title“Two”“Two, from the second tab”");
  }

  await tab(second.page, "Status").click();
  await first.page.close();
  await expect(body(second.page)).toContainText("LeaderThis tab");
  await second.context.setOffline(false);
  await tab(second.page, "Queue \\(0\\)").click();
  await expect(body(second.page)).toContainText("Nothing waits to be sent.");
  await tab(second.page, "Events").click();
  await expect(body(second.page)).toContainText("This tab is now the leader: it syncs for all tabs.");
  await expect(body(second.page)).toContainText("is settled: the log has it.");
});
