// Makes the pictures in docs/images from the running demo: node --conditions=holdfast-source --import tsx e2e/screenshots.ts
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type Browser, chromium } from "@playwright/test";
import { browserArguments, findChromium } from "../scripts/browser.mjs";
import { createBoard } from "./support/board.ts";
import { type Demo, startDemo } from "./support/demo.ts";

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

await mkdir(at("docs/images"), { recursive: true });
const demo = await startDemo();
const executablePath = findChromium();
const browser = await chromium.launch({ args: browserArguments, ...(executablePath && { executablePath }) });
try {
  await demo.import(at("apps/demo/sample/keeping-a-shared-deck-honest.md"), "--pace", "0");
  await takePictures(browser, demo);
} finally {
  await browser.close();
  await demo.stop();
}

async function takePictures(browser: Browser, demo: Demo): Promise<void> {
  const open = async (person: string, options: Parameters<Browser["newContext"]>[0] = {}) => {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 860 },
      deviceScaleFactor: 2,
      ...options,
    });
    const page = await context.newPage();
    await page.goto(`${demo.pageUrl}/?person=${person}`);
    const board = createBoard(page, context);
    await board.isSaved();
    await board.text(12).waitFor();
    return board;
  };
  const ada = await open("ada");
  const ben = await open("ben");

  await ada.workOffline();
  await ada.rename(1, "Why shared decks drift");
  await ada.rewrite(1, (await ada.text(1).inputValue()).replace("nobody has read all of it", "nobody reads all of it"));
  // Long enough for the page to show a duration.
  await ada.page.waitForTimeout(6_000);
  await ada.page.getByRole("heading", { level: 1 }).hover();
  await ada.page.screenshot({ path: at("docs/images/board.png") });

  await ben.rename(1, "How decks drift");
  await ben.isSaved();
  await ada.comeBack();
  await ada.openConflict();
  await ada.page.screenshot({ path: at("docs/images/conflict.png") });

  await ada.press("Decide later");
  await ada.press("Look back in time");
  const range = ada.page.getByRole("slider", { name: "Changes of this deck" });
  await ada.page.locator("input[type=range]:enabled").waitFor();
  await range.press("Home");
  for (let steps = 0; steps < 6; steps += 1) await range.press("ArrowRight");
  await ada.page.getByText("The import agent added “Edit in place, in small steps”.").waitFor();
  await ada.page.screenshot({ path: at("docs/images/timeline.png") });

  const phone = await open("cleo", { viewport: { width: 390, height: 780 }, colorScheme: "dark", hasTouch: true });
  await phone.page.screenshot({ path: at("docs/images/phone.png") });
}
