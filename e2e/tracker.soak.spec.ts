import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test as base, expect, type Locator, type Page } from "@playwright/test";
import { violations } from "./support/axe.ts";
import { p75, touchesOfOneField } from "./support/board-costs.ts";
import { watchPaint } from "./support/paint.ts";
import { createReport } from "./support/report.ts";
import { startTracker, type Tracker, type TrackerPage, trackerPage } from "./support/tracker.ts";
import { filterClicks } from "./support/tracker-costs.ts";

interface Fixtures {
  open(person: string, prepare?: (page: Page) => Promise<void>): Promise<TrackerPage>;
}

const test = base.extend<Fixtures, { tracker: Tracker }>({
  tracker: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from this pattern
    async ({}, use) => {
      const tracker = await startTracker();
      await use(tracker);
      await tracker.stop();
    },
    { scope: "worker", timeout: 180_000 },
  ],
  open: async ({ browser, tracker }, use) => {
    const faults: string[] = [];
    await use(async (person, prepare) => {
      const context = await browser.newContext();
      const page = await context.newPage();
      page.on("pageerror", (error) => faults.push(`${person}: ${error}`));
      await prepare?.(page);
      await page.goto(`${tracker.pageUrl}/?user=${person}`);
      const opened = trackerPage(page);
      await opened.isSaved();
      return opened;
    });
    for (const context of browser.contexts()) await context.close();
    expect(faults).toEqual([]);
  },
});

// A trace records the whole page at every step, which would distort the measurement.
test.use({ trace: "off" });

const LINES = 500;
const WANTED_MS = 50;

test(`[V32] the tracker has at most ${LINES} lines of code`, () => {
  const folder = fileURLToPath(new URL("../examples/tracker/", import.meta.url));
  const files = ["", "src/"].flatMap((below) => readdirSync(folder + below).map((name) => below + name));
  const code = files.filter((name) => /\.(ts|tsx|js)$/.test(name) && name !== "seed.ts");
  const lines = code.flatMap((name) => readFileSync(folder + name, "utf8").split("\n")).filter((line) => line.trim());
  expect(code).toContain("src/main.tsx");
  expect(lines.length).toBeLessThanOrEqual(LINES);
});

test("[V32] two people and 5 000 issues: membership, presence, offline, a conflict, undo", async ({ open }) => {
  test.setTimeout(240_000);
  const report = await createReport("tracker", "The issue tracker, step by step");
  const ann = await open("ann");
  const ben = await open("ben");
  await ann.counts(5_000);
  await ben.counts(3_334); // Those of two projects.
  await report.step(ann.page, "Ann is a member of three projects, and sees 5 000 issues.");
  expect(await violations(ann.page)).toEqual([]);

  // Filters.
  const { filters } = ann;
  await filters.getByRole("button", { name: "doing 1000" }).click();
  await ann.counts(1_000);
  await ann.choose("Label", "bug");
  await filters.getByLabel("Search").fill("the logo");
  await expect(ann.issues.getByRole("listitem").first()).toContainText("the logo");
  await expect(ann.issues.getByRole("listitem").first()).toContainText("bug");
  await report.step(ann.page, "Issues in progress with the label bug that are about the logo.");
  await filters.getByLabel("Search").fill("no issue has these words");
  await expect(ann.issues).toContainText("There are no such issues in your projects.");
  await filters.getByLabel("Search").fill("");
  await ann.choose("Label", "");
  await filters.getByRole("button", { name: "doing 1000" }).click();
  await ann.counts(5_000);

  // Ben leaves a project while his page is open, and joins it again.
  await ben.open("i1");
  await expect(ben.issue.getByRole("heading", { level: 2 })).toHaveText("Mend the logo 1");
  await ann.choose("Project", "Website");
  await ann.counts(1_667);
  const member = filters.getByRole("group", { name: "Members of Website" }).getByLabel("Ben");
  await member.uncheck();
  await ben.counts(1_667);
  await expect(ben.issue.getByRole("heading", { level: 2 })).toHaveText("There is no such issue in your projects.");
  await expect(
    ben.filters.getByRole("combobox", { name: "Project", exact: true }).getByRole("option", { name: "Website" }),
  ).toHaveCount(0);
  await report.step(ben.page, "Ann has removed Ben from the project Website: its issues have left his page.");
  await member.check();
  await ben.counts(3_334);
  await expect(ben.issue.getByRole("heading", { level: 2 })).toHaveText("Mend the logo 1");

  // Both look at one issue.
  await ann.open("i1");
  await expect(ann.issue).toContainText("Ben is here.");
  await expect(ben.issue).toContainText("Ann is here.");
  await expect(ann.issue.getByRole("heading", { level: 2 })).toBeFocused();
  await ben.issue.getByLabel("Your comment").fill("The left edge is cut off.");
  await ben.issue.getByRole("button", { name: "Send" }).click();
  await expect(ann.issue.getByRole("article")).toContainText("The left edge is cut off.");
  await expect(ann.issue.getByRole("article")).toContainText("Ben");
  await report.step(ann.page, "Ben is here, and has written a comment.");
  expect(await violations(ann.page)).toEqual([]);

  // Undo.
  await ann.issue.getByRole("combobox", { name: "Status", exact: true }).selectOption("doing");
  await expect(ben.issue.getByRole("combobox", { name: "Status", exact: true })).toHaveValue("doing");
  await ann.issue.getByRole("button", { name: "Undo" }).click();
  await expect(ben.issue.getByRole("combobox", { name: "Status", exact: true })).toHaveValue("todo");
  await ann.issue.getByRole("button", { name: "Redo" }).click();
  await expect(ben.issue.getByRole("combobox", { name: "Status", exact: true })).toHaveValue("doing");

  // Both write in one text: their words are merged.
  const [hers, his] = [ann, ben].map(({ issue }) => issue.getByLabel("Description")) as [Locator, Locator];
  await hers.fill("It is blurred.");
  await expect(his).toHaveValue("It is blurred.");
  await Promise.all([hers.fill("It is blurred. On phones."), his.fill("Since May: It is blurred.")]);
  for (const field of [hers, his]) await expect(field).toHaveValue("Since May: It is blurred. On phones.");
  await ann.isSaved();
  await ben.isSaved();

  // Ben saves a title that Ann changes too, while she has no network.
  await ann.page.context().setOffline(true);
  await ann.issue.getByLabel("Title").fill("Ann's logo");
  await ben.issue.getByLabel("Title").fill("Ben's logo");
  await ben.issue.getByLabel("Title").press("Tab");
  await ben.isSaved();
  await ann.page.context().setOffline(false);
  await expect(ann.page.getByRole("alert")).toContainText(
    "changed the title: you to “Ann's logo”, they to “Ben's logo”.",
  );
  await report.step(ann.page, "Both changed the title. Ann decides.");
  expect(await violations(ann.page)).toEqual([]);
  await ann.page.getByRole("button", { name: "Take theirs" }).click();
  await expect(ann.page.getByRole("alert")).toHaveCount(0);
  await ann.isSaved();

  // Ann edits offline and reloads; meanwhile Ben changes the same title.
  await ann.page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  await ann.page.context().setOffline(true);
  await ann.issue.getByLabel("Title").fill("The logo, from the train");
  await ann.issue.getByLabel("Title").press("Tab");
  await ann.page.reload();
  await expect(ann.issue.getByLabel("Title")).toHaveValue("The logo, from the train");
  await filters.getByLabel("Search").fill("from the train");
  await expect(ann.issues.getByRole("status")).toHaveText("1 issues, perhaps more");
  await expect(ann.page.getByRole("banner").getByRole("status")).toHaveText(/, 1 to send$/);
  await report.step(ann.page, "Opened again without a network: the edit is there, and waits.");
  await ben.issue.getByLabel("Title").fill("The logo at home");
  await ben.issue.getByLabel("Title").press("Tab");
  await ben.isSaved();
  await ann.page.context().setOffline(false);
  await expect(ann.page.getByRole("alert")).toContainText("they to “The logo at home”");
  await ann.page.getByRole("button", { name: "Keep mine" }).click();
  await expect(ben.issue.getByLabel("Title")).toHaveValue("The logo, from the train");
  await ann.isSaved();
  await report.write();
});

test("[V41][V42][V43] a filter is in the address and has a name: for a link, for Back, for others, offline", async ({
  open,
}) => {
  const report = await createReport("tracker-filters", "Saved filters of the issue tracker, step by step");
  const ann = await open("ann");
  const ben = await open("ben");
  const name = (of: TrackerPage) => of.filters.getByRole("textbox", { name: "Name" });
  const saved = (of: TrackerPage, text: string) => of.filters.getByRole("link", { name: text, exact: true });
  const search = (of: TrackerPage) => of.filters.getByRole("searchbox", { name: "Search" });

  // What Ann chooses is in the address.
  await ann.choose("Project", "Phone app");
  await ann.filters.getByRole("button", { name: "doing" }).click();
  await ann.choose("Label", "idea");
  await ann.counts(84);
  await search(ann).pressSequentially("the sign-in");
  await ann.counts(12);
  const { hash } = new URL(ann.page.url());
  await ben.follow(hash);
  await ben.counts(12);
  await expect(search(ben)).toHaveValue("the sign-in");
  await expect(ben.issues.getByRole("listitem").first()).toContainText("the sign-in");

  // Back leads past the search at once, and an issue keeps the list that it was opened from.
  await ann.page.goBack();
  await ann.counts(84);
  await expect(search(ann)).toHaveValue("");
  await ann.page.goForward();
  await ann.counts(12);
  await ann.issues.getByRole("link").first().click();
  await expect(ann.issue.getByRole("heading", { level: 2 })).toContainText("the sign-in");
  await ann.issue.getByRole("link", { name: "Close" }).click();
  expect(new URL(ann.page.url()).hash).toBe(hash);
  await ann.counts(12);

  // A link may say anything.
  await ben.follow("#/?project=app&label=idea&status=lost&order=toString&colour=red&text=%");
  await expect(ben.issues.getByRole("status")).toHaveText("0 issues");
  await ben.follow("#/?project=app&label=idea&status=lost&order=toString&colour=red");
  await ben.counts(417);
  await ben.follow("#/?project=office&assignee=ben");
  await ben.counts(0);
  await expect(ben.filters.getByRole("option", { name: "unknown", selected: true })).toHaveCount(1);
  await ben.follow("#/");

  // One of a project is for its members, one of all projects for everyone.
  await name(ann).fill("Sign-in of the app");
  await name(ann).press("Enter");
  await expect(saved(ann, "Sign-in of the app")).toHaveAttribute("aria-current", "true");
  await ann.follow("#/?project=office&status=done");
  await name(ann).fill("Done in the office");
  await name(ann).press("Enter");
  await expect(saved(ann, "Done in the office")).toHaveAttribute("aria-current", "true");
  await ann.follow("#/?label=urgent&order=title");
  await name(ann).fill("Urgent things");
  await ann.filters.getByRole("button", { name: "Save this filter" }).click();
  await report.step(ann.page, "Ann has saved three filters, and one is chosen.");
  expect(await violations(ann.page)).toEqual([]);
  await expect(saved(ben, "Urgent things")).toBeVisible();
  await expect(saved(ben, "Done in the office")).toHaveCount(0);
  await saved(ben, "Sign-in of the app").click();
  await ben.counts(12);
  await report.step(ben.page, "Ben sees two of them, and has chosen one.");

  // A link opens the same list without a network too, and what is saved then is sent later.
  await ann.isSaved();
  await ann.page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  await ann.page.context().setOffline(true);
  await ann.page.reload();
  await expect(saved(ann, "Urgent things")).toHaveAttribute("aria-current", "true");
  await saved(ann, "Sign-in of the app").click();
  await expect(ann.issues.getByRole("status")).toHaveText("12 issues, perhaps more");
  await name(ann).fill("Ann's sign-in");
  await name(ann).press("Enter");
  await expect(saved(ann, "Ann's sign-in")).toBeVisible();
  await ann.follow("#/?status=todo&assignee=ben");
  await name(ann).fill("What Ben has to do");
  await name(ann).press("Enter");
  await expect(saved(ann, "What Ben has to do")).toHaveAttribute("aria-current", "true");
  await name(ben).fill("Ben's sign-in");
  await ben.filters.getByRole("button", { name: "Rename" }).click();
  await ben.isSaved();
  await ann.page.context().setOffline(false);
  await expect(saved(ben, "What Ben has to do")).toBeVisible();

  // Both have renamed one: Ann decides, while another one is open.
  await expect(ann.page.getByRole("alert")).toContainText("the name: you to “Ann's sign-in”, they to “Ben's sign-in”.");
  await ann.page.getByRole("button", { name: "Keep mine" }).click();
  await expect(saved(ben, "Ann's sign-in")).toHaveAttribute("aria-current", "true");
  await expect(ann.page.getByRole("alert")).toHaveCount(0);
  await ben.filters.getByRole("button", { name: "Delete" }).click();
  await expect(saved(ann, "Ann's sign-in")).toHaveCount(0);
  await expect(saved(ben, "Ann's sign-in")).toHaveCount(0);
  await expect(ben.filters.getByRole("button", { name: "Delete" })).toBeFocused();
  await report.write();
});

test("[V32] 5 000 issues: from a click on a filter to the paint, at a quarter of the speed", async ({ open }) => {
  const ann = await open("ann", watchPaint);
  await ann.counts(5_000);
  const { clicks, paintMs, listMs } = await filterClicks(ann);
  // Other load on this machine slows a page with one field too, so on a busy machine that page is the reference.
  const floor = p75(await touchesOfOneField(ann.page.context()));
  console.log(
    `From a click on a filter to the next paint: p75 ${paintMs} ms of ${clicks}, wanted are ${WANTED_MS}; to the new list: ${listMs.toFixed(0)} ms; a page with one field: ${floor} ms.`,
  );
  expect(clicks).toBeGreaterThan(10);
  expect(paintMs).toBeLessThanOrEqual(Math.max(2 * WANTED_MS, 4 * floor));
});
