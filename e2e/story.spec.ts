import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { violations } from "./support/axe.ts";
import { createBoard } from "./support/board.ts";
import { entriesOf } from "./support/log.ts";
import { forgetPaint, readPaint, watchPaint } from "./support/paint.ts";
import { createReport } from "./support/report.ts";
import { expect, test } from "./support/test.ts";

// Pictures are made at every step; the runner's own would only make the walk longer.
test.use({ trace: "off" });

test("[Y9] the whole story, step by step, with a picture and a check of each", async ({ demo, open, browser }) => {
  test.setTimeout(120_000);
  const report = await createReport("story", "The slide board, step by step");
  const step = async (page: Page, says: string) => {
    await report.step(page, says);
    expect(await violations(page), says).toEqual([]);
  };

  // A file is dropped, and grows into a deck.
  const name = `Our plan ${randomUUID().slice(0, 4)}`;
  const words = ["First", "Second", "Third"].map((title) => `## ${title}\n\nThe "${title}" step -- in short.\n`);
  const ada = await open("ada", "none", { prepare: watchPaint, settled: false });
  const opened = await readPaint(ada.page);
  await drop(ada.page, "plan.md", `# ${name}\n\n${words.join("\n")}`);
  await ada.shows(["First", "Second", "Third"]);
  await expect(ada.page.getByText("The agent has read all 3 passages.")).toBeVisible();
  await ada.page.emulateMedia({ reducedMotion: "reduce" });
  await step(ada.page, "A Markdown file was dropped on the page; an agent made a deck of it.");
  // While a deck grows, what stands below it goes down; from here on nothing may move by itself.
  await forgetPaint(ada.page);
  const deckId = new URL(ada.page.url()).searchParams.get("deck") ?? "";

  // Two people, and who edits what.
  const ben = await open("ben", deckId);
  await ben.title(2).press("End");
  await ben.title(2).pressSequentially(", by Ben");
  await expect(ada.card(2)).toContainText("Ben is editing.");
  await step(ada.page, "Ben writes the second slide: it is his for now, and Ada may wait in line.");
  await ben.title(2).press("Enter");

  // An agent works, and yields.
  await ada.press("Let it proofread this deck");
  await expect(ada.card(1)).toContainText("The proofreader: Proofreading.");
  await step(ada.page, "An agent claims the first slide to proofread it.");
  await ada.card(1).getByRole("button", { name: "Take over" }).click();
  await expect(ada.title(1)).toBeFocused();
  await ada.title(1).press("Escape");

  // Without a network everything goes on.
  await ada.workOffline();
  await ada.rename(3, "Third, from the train");
  const queue = ada.page.getByRole("region", { name: /^Waiting to be sent/ });
  await expect(queue).toContainText("Change the title of “Third, from the train”");
  await step(ada.page, "Offline: what Ada writes is kept, shown, and listed.");
  // The agent is through: nobody has the third slide.
  await expect(ben.text(3)).toHaveValue(/“Third” step/);
  await expect(ben.card(3)).toHaveAttribute("data-locked", "false");
  await ben.rename(3, "Our Third");
  await ben.isSaved();
  await ada.comeBack();
  const dialog = await ada.openConflict();
  await expect(dialog.getByLabel("Or put the two together")).toHaveValue("Third, from the train");
  await step(ada.page, "Both changed the same title: mine, before, theirs, and the merge as it would be.");
  await dialog.getByLabel("Or put the two together").fill("Our third, from the train");
  await expect(dialog.locator(".merge .version")).toContainText("Our third, from the train");
  await ada.press("Save the merged text");
  await expect(ben.title(3)).toHaveValue("Our third, from the train");

  // A line that loses two of three requests.
  const added = (await entriesOf(demo, `${deckId}_s1`)).length;
  await ada.line("lossy").check();
  await ada.rewrite(1, "Written once, whatever was lost.");
  await expect(ben.text(1)).toHaveValue("Written once, whatever was lost.", { timeout: 25_000 });
  await ada.line("online").check();
  await ada.isSaved();
  expect(await entriesOf(demo, `${deckId}_s1`)).toHaveLength(added + 1);

  // Back in time.
  await ada.press("Look back in time");
  const range = ada.page.getByRole("slider", { name: "Changes of this deck" });
  await expect(range).toHaveAttribute("aria-valuetext", /You changed the text of “First”\.$/);
  const timeline = ada.page.getByRole("region", { name: "Earlier states" });
  await expect(timeline.getByRole("heading", { level: 2 })).toHaveText(["First", /^Second, by Ben/, /train$/]);
  await range.press("Home");
  await expect(timeline).toContainText("There were no slides then.");
  for (let steps = 0; steps < 3; steps += 1) await range.press("ArrowRight");
  await expect(timeline.getByRole("heading", { level: 2 })).toHaveText(["First", "Second"]);
  await expect(range).toHaveAttribute("aria-valuetext", /: The import agent added “Second”\.$/);
  await expect(timeline.getByRole("textbox")).toHaveCount(0);
  await step(ada.page, "The deck as it was after the third of its changes.");
  await ada.press("Back to the board");
  await expect(ada.title(3)).toHaveValue("Our third, from the train");

  // What moved without anybody's touch.
  const walked = await readPaint(ada.page);
  report.figure(`Layout shift: ${opened.shift.toFixed(4)} while it opened, ${walked.shift.toFixed(4)} over the walk`);
  for (const { shift, shifts } of [opened, walked]) expect(shift, shifts.join("; ")).toBeLessThan(0.02);

  // Elsewhere: dark, on a phone, side by side.
  const phone = await browser.newContext({ viewport: { width: 390, height: 844 }, colorScheme: "dark" });
  const cleo = createBoard(await phone.newPage(), phone);
  await cleo.page.goto(`${demo.pageUrl}/?person=cleo&deck=${deckId}`);
  await cleo.isSaved();
  await expect(cleo.title(3)).toHaveValue("Our third, from the train");
  const width = await cleo.page.evaluate(() => document.documentElement.scrollWidth);
  expect(width, "nothing is wider than the phone").toBeLessThanOrEqual(390);
  await step(cleo.page, "On a phone, in the dark.");
  await cleo.press("Look back in time");
  await expect(cleo.page.getByRole("slider")).toBeFocused();
  await expect(cleo.page.getByText("As it is now")).toBeVisible();
  await step(cleo.page, "Looking back on a phone.");
  await phone.close();

  await ada.page.getByRole("link", { name: "Ada and Ben side by side" }).click();
  for (const person of ["Ada", "Ben"]) {
    const frame = ada.page.frameLocator(`iframe[title="${person}’s window"]`);
    await expect(frame.getByRole("heading", { name: `You are ${person}` })).toBeVisible();
    await expect(frame.getByRole("textbox", { name: "Title of slide 1", exact: true })).toHaveValue("First");
  }
  await step(ada.page, "Two people side by side, in one window.");
  await report.write();
});

/** Drops a file on the page, as the browser tells a page of it. */
async function drop(page: Page, name: string, text: string): Promise<void> {
  const files = await page.evaluateHandle(
    ([name = "", text = ""]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([text], name, { type: "text/markdown" }));
      return transfer;
    },
    [name, text],
  );
  // Again while it hovers, as a browser does.
  await expect(async () => {
    await page.dispatchEvent("body", "dragover", { dataTransfer: files });
    await expect(page.getByText("Let go, and the agent makes a deck of it")).toBeVisible({ timeout: 200 });
  }).toPass();
  await page.dispatchEvent("body", "drop", { dataTransfer: files });
}
