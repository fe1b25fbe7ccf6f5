import type { Page } from "@playwright/test";
import { violations } from "./support/axe.ts";
import { expect, test } from "./support/test.ts";

test("the main path works with the keyboard alone", async ({ openBoth }) => {
  const { ada, ben } = await openBoth(["One", "Two"]);
  const { keyboard } = ada.page;

  await tabTo(ada.page, "Title of slide 1");
  await keyboard.press("ControlOrMeta+a");
  await keyboard.type("By keyboard");
  await keyboard.press("Enter");
  await expect(ben.title(1)).toHaveValue("By keyboard");

  await keyboard.press("Alt+ArrowDown");
  await ben.shows(["Two", "By keyboard"]);
  await expect(ada.title(2)).toBeFocused();

  await tabTo(ada.page, "Add a slide");
  await keyboard.press("Enter");
  await expect(ada.title(3)).toBeFocused();
  await keyboard.type("Third");
  await keyboard.press("Enter");
  await ben.shows(["Two", "By keyboard", "Third"]);

  await tabTo(ada.page, "Delete “Third”");
  await keyboard.press("Enter");
  await ben.shows(["Two", "By keyboard"]);

  // The four lines are one stop, and the arrows choose: backwards from the first to the last.
  await tabTo(ada.page, /^online/, "Shift+Tab");
  await keyboard.press("ArrowLeft");
  await expect(ada.status("Working offline")).toBeVisible();
  await tabTo(ada.page, "Title of slide 1");
  await keyboard.press("ControlOrMeta+a");
  await keyboard.type("Ada’s");
  await keyboard.press("Enter");
  await ben.rename(1, "Ben’s");
  await ben.isSaved();
  await tabTo(ada.page, /^offline/, "Shift+Tab");
  await keyboard.press("ArrowRight");

  await expect(ada.page.getByRole("button", { name: "Decide…" })).toBeVisible();
  await tabTo(ada.page, "Decide…");
  await keyboard.press("Enter");
  await tabTo(ada.page, "Take theirs");
  await keyboard.press("Enter");
  await expect(ada.title(1)).toHaveValue("Ben’s");
  await ada.isSaved();
});

test.describe("with a mirror", () => {
  test.use({ withMirror: true });

  test("axe finds nothing, light and dark", async ({ openBoth }) => {
    const { ada, ben } = await openBoth(["Before", "Two"]);
    const check = async () => {
      for (const colorScheme of ["light", "dark"] as const) {
        await ada.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        expect(await violations(ada.page), colorScheme).toEqual([]);
      }
    };
    await expect(ada.page.getByRole("region", { name: "A mirror elsewhere" })).toContainText("Up to date");
    await ada.workOffline();
    await ada.rename(1, "Ada’s");
    await expect(ada.card(1)).toContainText("Waiting to be sent");
    await check();

    await ben.rename(1, "Ben’s");
    await ben.isSaved();
    await ada.comeBack();
    await ada.openConflict();
    await check();
  });
});

/** Tabs until the named control has the focus. */
async function tabTo(page: Page, name: string | RegExp, key = "Tab"): Promise<void> {
  const nameOfFocused = () =>
    page.evaluate(() => {
      const focused = document.activeElement as HTMLElement | null;
      const label = (focused as HTMLInputElement | null)?.labels?.[0];
      return (focused?.getAttribute("aria-label") ?? label?.textContent ?? focused?.textContent ?? "").trim();
    });
  for (let steps = 0; steps < 60; steps += 1) {
    const here = await nameOfFocused();
    if (typeof name === "string" ? here === name : name.test(here)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not lead to “${name}”.`);
}
