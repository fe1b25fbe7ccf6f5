import { seriousViolations } from "./support/axe.ts";
import { watchFaults } from "./support/page-faults.ts";
import { expect, test } from "./support/test.ts";

test("[E7] the API description can be browsed and tried out, light and dark, without requests to other hosts", async ({
  demo,
  page,
}) => {
  const faults = watchFaults(page, demo.serverUrl);
  for (const [colorScheme, paper] of [
    ["dark", "rgb(28, 32, 34)"],
    ["light", "rgb(255, 255, 255)"],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto(`${demo.serverUrl}/docs`);
    await expect(page.locator("body")).toHaveCSS("background-color", paper);
  }
  await expect(page.getByRole("heading", { name: /^Holdfast/ })).toBeVisible();
  await expect(page.getByText("Read the log of changes", { exact: true })).toBeVisible();
  await expect(page.getByText("Create a record: slide", { exact: true })).toHaveCount(0);

  await page.getByLabel("Token").fill("sk_live_wrong");
  await page.getByRole("button", { name: "Show my models" }).click();
  await expect(page.getByRole("status")).toHaveText(/The token is unknown/);
  await page.getByLabel("Token").fill(demo.secretKey);
  await page.getByRole("button", { name: "Show my models" }).click();
  // The description has every model of the tenant.
  for (const model of ["document", "slide", "favorite", "projectteam"])
    await expect(page.locator(`#operations-tag-model_${model}`)).toBeVisible();
  await page.locator("#operations-tag-model_slide").click();
  await expect(page.getByText("Create a record: slide", { exact: true })).toBeVisible();

  const list = page.locator("#operations-model_slide-slide_listRecords");
  await list.locator(".opblock-summary").click();
  await list.getByRole("button", { name: "Try it out" }).click();
  await list.getByRole("button", { name: "Execute" }).click();
  await expect(list.locator(".live-responses-table .response-col_status").last()).toHaveText(/^200/);
  // The browser itself logs the refused token on the console.
  expect(faults.filter((fault) => !/status of 401/.test(fault))).toEqual([]);
});

test("[E2] axe finds nothing on the page of errors, light and dark", async ({ demo, page }) => {
  const faults = watchFaults(page, demo.serverUrl);
  await page.goto(`${demo.serverUrl}/docs/errors#stale_context`);
  await expect(page.getByRole("heading", { name: "stale_context" })).toBeInViewport();
  expect(await page.evaluate(() => getComputedStyle(document.body).colorScheme)).toBe("light dark");
  await page.getByRole("link", { name: "All routes" }).click();
  await expect(page).toHaveURL(`${demo.serverUrl}/docs`);
  await page.goBack();
  await expect(page.getByRole("heading", { name: "stale_context" })).toBeAttached();
  // The page's policy forbids the checker's script, so the checker gets a copy of the page.
  const copy = await page.context().newPage();
  await copy.setContent(await page.content());
  for (const colorScheme of ["light", "dark"] as const) {
    await copy.emulateMedia({ colorScheme });
    expect(await seriousViolations(copy), colorScheme).toEqual([]);
  }
  expect(faults).toEqual([]);
});
