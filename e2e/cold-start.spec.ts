import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "@playwright/test";
import { browserArguments, findChromium } from "../scripts/browser.mjs";
import { seriousViolations } from "./support/axe.ts";
import { createBoard } from "./support/board.ts";
import { startDemo } from "./support/demo.ts";
import { createDeck, entriesOf } from "./support/log.ts";
import { expect, test } from "./support/test.ts";

test("opened once, the board opens after a restart of the browser while no server runs, and loses nothing", async () => {
  test.setTimeout(90_000);
  const demo = await startDemo();
  const profile = await mkdtemp(join(tmpdir(), "holdfast-profile-"));
  const complaints: string[] = [];
  const open = async (address: string) => {
    const executablePath = findChromium();
    const context = await chromium.launchPersistentContext(profile, {
      args: browserArguments,
      ...(executablePath && { executablePath }),
    });
    const [page = await context.newPage()] = context.pages();
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => {
      if (/error|warning/.test(message.type())) complaints.push(message.text());
    });
    await page.goto(address);
    return createBoard(page, context);
  };
  const deck = await createDeck(demo, ["One", "Two"]);
  const address = `${demo.pageUrl}/?person=ada&deck=${deck.id}`;

  const online = await open(address);
  await online.rename(1, "Written before");
  await online.isSaved();
  await online.page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  await online.context.close();
  expect(complaints).toEqual([]);

  await demo.goDown();
  const offline = await open(address);
  await offline.shows(["Written before", "Two"]);
  await offline.rename(2, "Written while nobody was there");
  await expect(offline.card(2)).toContainText("Waiting to send");
  await expect(offline.status("No connection")).toBeVisible();
  await offline.page.reload();
  await offline.shows(["Written before", "Written while nobody was there"]);
  await expect(offline.card(2)).toContainText("Waiting to send");
  await expect(offline.status("No connection")).toBeVisible();
  expect(await seriousViolations(offline.page)).toEqual([]);

  await demo.comeBack();
  // Somebody looks at the window again.
  await offline.page.evaluate(() => void dispatchEvent(new Event("focus")));
  await offline.isSaved();
  await offline.shows(["Written before", "Written while nobody was there"]);
  for (const id of deck.slideIds)
    expect((await entriesOf(demo, id)).map(({ verb }) => verb)).toEqual(["created", "updated"]);
  await offline.context.close();
  expect(complaints.filter((text) => !/ERR_CONNECTION_REFUSED/.test(text))).toEqual([]);
  await demo.stop();
  await rm(profile, { recursive: true, force: true });
});
