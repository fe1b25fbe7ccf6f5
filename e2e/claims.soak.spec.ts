import { expect } from "@playwright/test";
import { editUnderEndedClaim } from "./support/ended-claim.ts";
import { test } from "./support/test.ts";

test("an edit under a claim whose lease ran out while its window was offline opens a conflict that names the present holder", async ({
  demo,
  open,
}) => {
  await editUnderEndedClaim(demo, open, async (ada) => {
    // The board's claims last 20 s.
    await ada.page.waitForTimeout(21_000);
    expect(await ada.page.evaluate(() => navigator.onLine)).toBe(false);
  });
});
