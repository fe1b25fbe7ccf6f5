import { expect, type Page } from "@playwright/test";

/**
 * Stops the clock of the page's whole context, half a second ahead: no timer fires until `clock.runFor` or `clock.resume`.
 * The clock has to be installed before the pages load.
 */
export async function stopClock(page: Page): Promise<void> {
  // On a busy machine that time may have passed before Playwright gets there, which it refuses.
  await expect(async () => {
    await page.context().clock.pauseAt(await page.evaluate(() => Date.now() + 500));
  }).toPass();
}
