import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { readMirror } from "../apps/demo/mirror/testing/records.ts";
import { violations } from "./support/axe.ts";
import { createBoard } from "./support/board.ts";
import { entriesOf, limitTitles } from "./support/log.ts";
import { forgetPaint, readPaint, watchPaint } from "./support/paint.ts";
import { createReport } from "./support/report.ts";
import { expect, test } from "./support/test.ts";

// The agent stays at its first slide until it is taken over.
test.use({ withMirror: true, pace: "600000,0" });

test("[Y9] the whole story, step by step, with a picture and a check of each", async ({ demo, open, browser }) => {
  const report = await createReport("story", "The slide board, step by step");
  const step = async (page: Page, caption: string) => {
    await report.step(page, caption);
    expect(await violations(page), caption).toEqual([]);
  };

  // A file is dropped, and grows into a deck.
  const name = `Our plan ${randomUUID().slice(0, 4)}`;
  const ada = await open("ada", "none", { prepare: watchPaint, settled: false });
  const opened = await readPaint(ada.page);
  const progress = ada.page.getByRole("progressbar", { name: "Passages read" });
  // It is shown for a second, which a look now and then would miss.
  const isShown = progress.waitFor();
  await drop(ada.page, "plan.md", planOf(name), () =>
    report.step(ada.page, "A Markdown file is held over the page: let go, and an agent makes a deck of it."),
  );
  await isShown;
  await report.step(ada.page, "The agent reads it, passage by passage, and the deck grows.");
  await ada.shows(["First", "Second", "Third"]);
  await expect(ada.page.getByText(/^The agent has read all \d+ passages\.$/)).toBeVisible();
  await expect(progress).toBeHidden();
  await ada.page.emulateMedia({ reducedMotion: "reduce" });
  await step(ada.page, "All of it is read: a slide for each heading.");
  // While a deck grows, what stands below it goes down; from here on nothing may move by itself.
  await forgetPaint(ada.page);
  const deckId = new URL(ada.page.url()).searchParams.get("deck") ?? "";

  // Two people, and who edits what.
  const ben = await open("ben", deckId);
  await ben.title(2).press("End");
  await ben.title(2).pressSequentially(", by Ben");
  await expect(ada.card(2)).toContainText("Ben is editing.");
  await expect(ada.page.getByRole("list", { name: "Who is here" }).getByRole("listitem")).toHaveText([/You/, /Ben/]);
  await expect(ada.card(2).getByRole("list", { name: "Who is at this slide" })).toContainText("Ben");
  await step(ada.page, "Ben writes the second slide: it is his for now, and Ada may wait in line.");
  await ben.title(2).press("Enter");

  // An agent works, yields, waits in the queue, and edits.
  await ada.title(1).pressSequentially(" ");
  await ben.press("Let it proofread this deck");
  await expect(ben.card(2)).toContainText("The proofreader: correcting mistakes.");
  await step(ben.page, "An agent goes through the deck: past the first slide, which Ada edits, to the second.");
  await ben.card(2).getByRole("button", { name: "Take over" }).click();
  await expect(ben.title(2)).toBeFocused();
  await expect(ben.title(2)).toBeEditable();
  await ben.title(2).press("Escape");
  await expect(ada.text(3)).toHaveValue(/“Third” step –/);
  // Still typing, so that it stays hers.
  await ada.title(1).press("Backspace");
  await expect(ada.card(1)).toContainText("You are editing. The proofreader waits.");
  await step(ada.page, "Ben took the second slide over. The third is mended; for the first the agent waits in line.");
  await ada.title(1).press("Enter");
  await expect(ada.text(1)).toHaveValue(/“First” step –/);
  await expect(ada.card(1)).toHaveAttribute("data-locked", "false");
  expect(await ben.text(2).inputValue()).toContain(`"Second" step --`);

  // By keyboard.
  await ada.title(1).focus();
  await ada.page.keyboard.press("Alt+ArrowDown");
  await ben.shows(["Second, by Ben", "First", "Third"]);
  await expect(ada.title(2)).toBeFocused();
  await step(ada.page, "Moved by keyboard: Alt and an arrow. The focus moves along.");
  await ada.page.keyboard.press("Alt+ArrowUp");
  await ben.shows(["First", "Second, by Ben", "Third"]);

  // Without a network everything goes on.
  await ada.workOffline();
  await ada.rename(3, "Third, from the train");
  const queue = ada.page.getByRole("region", { name: /^Waiting to be sent/ });
  await expect(queue).toContainText("Change the title of “Third, from the train”");
  await step(ada.page, "Offline: what Ada writes is kept, shown, and listed.");
  await ben.rename(3, "Our Third");
  await ben.isSaved();
  await ada.comeBack();
  const dialog = await ada.openConflict();
  await expect(dialog.getByLabel("Or merge the two")).toHaveValue("Third, from the train");
  await dialog.getByLabel("Or merge the two").fill("Our Third from the train");
  await expect(dialog.locator(".merge .version")).toContainText("Our Third from the train");
  const preview = await dialog.locator(".merge .version p").boundingBox();
  expect(preview?.height, "kept and changed words stand in one line").toBeLessThan(40);
  await step(ada.page, "Both changed the same title: mine, before, theirs, and the merge as it would be.");
  await ada.press("Save the merged text");
  await expect(ben.title(3)).toHaveValue("Our Third from the train");

  // Refused writes wait for a person.
  const endLimit = await limitTitles(demo, 30);
  try {
    await ada.rename(2, "Second, and longer than the server allows");
    const attention = ada.page.getByRole("region", { name: "Needs attention" });
    await expect(attention).toContainText("Could not change “Second, and longer than the server allows”.");
    await step(ada.page, "The server has a new rule that Ada’s page does not know: it refuses, and she is asked.");
    await ada.press("Discard");
    await expect(attention).toBeHidden();
    await ada.isSaved();
  } finally {
    await endLimit();
  }

  // A slow connection, and one that loses two of three requests.
  await ada.line("slow").check();
  await ada.rewrite(2, "Written on a slow line.");
  await expect(ada.status("Saving")).toBeVisible();
  await step(ada.page, "On a slow line: shown at once, sent a second later.");
  await expect(ben.text(2)).toHaveValue("Written on a slow line.");
  const added = (await entriesOf(demo, `${deckId}_s1`)).length;
  await ada.line("lossy").check();
  await ada.rewrite(1, "Written once, whatever was lost.");
  await expect(ben.text(1)).toHaveValue("Written once, whatever was lost.");
  await ada.line("online").check();
  await ada.isSaved();
  expect(await entriesOf(demo, `${deckId}_s1`)).toHaveLength(added + 1);

  // A mirror elsewhere, that fails for a while.
  const mirror = ada.page.getByRole("region", { name: "A mirror elsewhere" });
  const lag = mirror.locator("dd").first();
  await expect(mirror).toContainText("Up to date");
  await mirror.getByRole("button", { name: "Make it fail" }).click();
  await expect(mirror).toContainText("It fails from the next change on");
  await ben.rewrite(2, "The mirror does not hear of this.");
  await ben.rewrite(3, "Nor of this.");
  await expect(lag).toHaveText("2 changes");
  await expect(mirror).toContainText(/Attempt \d of 8 failed/);
  const mirrored = () => readMirror(demo.mirrorFile).records.find(({ id }) => id === `${deckId}_s3`)?.data;
  expect(mirrored()).not.toMatchObject({ notes: "Nor of this." });
  await mirror.scrollIntoViewIfNeeded();
  await step(ada.page, "The mirror fails: how far it is behind, and what became of each attempt.");
  await mirror.getByRole("button", { name: "Let it recover" }).click();
  await expect(mirror).toContainText("Up to date");
  await expect(lag).toHaveText("0 changes");
  expect(mirrored()).toMatchObject({ notes: "Nor of this." });
  await step(ada.page, "It has recovered, and has everything that it had missed.");

  // Back in time.
  await ada.press("Look back in time");
  const range = ada.page.getByRole("slider", { name: "Changes of this deck" });
  await expect(range).toHaveAttribute("aria-valuetext", /Ben changed the text of “Our Third from the train”\.$/);
  const timeline = ada.page.getByRole("region", { name: "Earlier states" });
  await expect(timeline.getByRole("heading", { level: 2 })).toHaveText(["First", "Second, by Ben", /train$/]);
  await range.press("Home");
  await expect(timeline).toContainText("There were no slides then.");
  for (let steps = 0; steps < 3; steps += 1) await range.press("ArrowRight");
  await expect(timeline.getByRole("heading", { level: 2 })).toHaveText(["First", "Second"]);
  await expect(range).toHaveAttribute("aria-valuetext", /: The import agent added “Second”\.$/);
  await expect(timeline.getByRole("textbox")).toHaveCount(0);
  await step(ada.page, "The deck as it was after the third of its changes.");
  await ada.press("Back to the board");
  await expect(ada.title(3)).toHaveValue("Our Third from the train");

  // Layout shifts without user input.
  const walked = await readPaint(ada.page);
  report.figure(`Layout shift: ${opened.shift.toFixed(4)} while it opened, ${walked.shift.toFixed(4)} over the walk`);
  for (const { shift, shifts } of [opened, walked]) expect(shift, shifts.join("; ")).toBeLessThan(0.02);

  // Elsewhere: dark, on a phone, side by side.
  const phone = await browser.newContext({ viewport: { width: 390, height: 844 }, colorScheme: "dark" });
  const cleo = createBoard(await phone.newPage(), phone);
  await cleo.page.goto(`${demo.pageUrl}/?person=cleo&deck=${deckId}`);
  await cleo.isSaved();
  await expect(cleo.title(3)).toHaveValue("Our Third from the train");
  const width = await cleo.page.evaluate(() => document.documentElement.scrollWidth);
  expect(width, "nothing is wider than the phone").toBeLessThanOrEqual(390);
  await step(cleo.page, "On a phone, in the dark.");
  await cleo.press("Look back in time");
  await expect(cleo.page.getByRole("slider")).toBeFocused();
  await expect(cleo.page.getByText("As it is now")).toBeVisible();
  await step(cleo.page, "Looking back on a phone.");
  await phone.close();

  // One click, and two people stand side by side.
  await ada.page.getByRole("link", { name: "Ada and Ben side by side" }).click();
  for (const person of ["Ada", "Ben"]) {
    const frame = ada.page.frameLocator(`iframe[title="${person}’s window"]`);
    await expect(frame.getByRole("heading", { name: `You are ${person}` })).toBeVisible();
    await expect(frame.getByRole("textbox", { name: "Title of slide 1", exact: true })).toHaveValue("First");
    await expect(frame.getByRole("list", { name: "Who is here" }).getByRole("listitem")).toHaveCount(2);
  }
  await step(ada.page, "Two people side by side, in one window.");

  // Opened again while the server is down, in dark mode.
  const away = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "dark" });
  const address = `${demo.pageUrl}/?person=dora&deck=${deckId}`;
  const before = createBoard(await away.newPage(), away);
  await before.page.goto(address);
  await before.isSaved();
  await before.page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  await before.page.close();
  await away.setOffline(true);
  const dora = createBoard(await away.newPage(), away);
  await dora.page.goto(address);
  await dora.shows(["First", "Second, by Ben", "Our Third from the train"]);
  await dora.rename(1, "First, without a network");
  await expect(dora.card(1)).toContainText("Waiting to be sent");
  await expect(dora.status("No connection")).toBeVisible();
  await step(dora.page, "Opened without a network: the page and the deck are there, and what is written waits.");
  await away.close();
  await report.write();
});

/** A document with three headings, long enough for its import to be visible. */
function planOf(name: string): string {
  const sections = ["First", "Second", "Third"].map((title) => [
    `## ${title}`,
    `The "${title}" step -- in short.`,
    // Each table is a passage of its own.
    ...["Ada and Ben write it.", "An agent reads it again.", "Everybody sees it grow."].map(
      (row) => `| ${row} |\n| --- |`,
    ),
  ]);
  return [`# ${name}`, ...sections.flat()].join("\n\n");
}

/** Drops a file on the page, as the browser tells a page of it; `hovering` is done while it is held there. */
async function drop(page: Page, name: string, text: string, hovering: () => Promise<void>): Promise<void> {
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
    await expect(page.getByText("Let go, and an agent makes a deck of it")).toBeVisible({ timeout: 200 });
  }).toPass();
  await hovering();
  await page.dispatchEvent("body", "drop", { dataTransfer: files });
}
