import { gzipSync } from "node:zlib";
import { type BrowserContext, expect, type Page } from "@playwright/test";
import type { Board } from "./board.ts";
import type { Demo } from "./demo.ts";
import { commit, type TestDeck } from "./log.ts";
import { forgetPaint, readPaint, watchPaint } from "./paint.ts";

/** The contents of a deck for these measurements. */
export const manyTitles: readonly string[] = Array.from({ length: 200 }, (_, at) => `Slide ${at + 1}`);

/** Starts to measure the size of loaded scripts, before any is loaded. The result returns the sum so far, after gzip. */
export function weighScripts(page: Page): () => Promise<number> {
  const scripts: Promise<number>[] = [];
  page.on("response", (response) => {
    if (response.request().resourceType() !== "script") return;
    scripts.push(response.body().then((bytes) => gzipSync(bytes).length));
  });
  return async () => (await Promise.all(scripts)).reduce((sum, bytes) => sum + bytes, 0);
}

/** Resolves when the whole deck is shown and the page is idle. */
export async function untilEditable(board: Board): Promise<void> {
  await expect(board.title(1)).toBeEditable();
  await expect(board.title(manyTitles.length)).toBeAttached();
  await board.isSaved();
}

/**
 * How long a touch takes until it is painted, at a quarter of the processor's speed: a click into each field, four letters,
 * Enter. Shortest first, in ms.
 *
 * It is the duration that the browser itself gives each interaction (Event Timing, of which Interaction to Next Paint is
 * made): from the touch, with what it waits for, to the frame that shows what came of it. It comes in steps of 8 ms, so 48
 * is within 50 and 56 is not.
 *
 * Hands and nothing else touch the page meanwhile: a search for a button among two hundred cards, which a test likes to do
 * before it clicks, would run in the page, at a quarter of the speed too, and be measured instead.
 */
export async function touchesToPaint(page: Page, fields: readonly string[]): Promise<readonly number[]> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  await forgetPaint(page);
  for (const field of fields) {
    const { x, y } = await middleOf(page, field);
    await page.mouse.move(x, y);
    await page.waitForTimeout(300);
    await page.mouse.down();
    await page.waitForTimeout(60);
    await page.mouse.up();
    for (const letter of "abcd") {
      await page.waitForTimeout(150);
      await page.keyboard.press(letter, { delay: 30 });
    }
    await page.waitForTimeout(150);
    await page.keyboard.press("Enter", { delay: 30 });
    await page.waitForTimeout(500);
  }
  const { interactions } = await readPaint(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  await devtools.detach();
  return [...interactions].sort((a, b) => a - b);
}

/** The titles of the first slides, for `touchesToPaint`. */
export const titleFields = ({ slideIds }: TestDeck): readonly string[] =>
  slideIds.slice(0, 3).map((id) => `#slide-${id} .slide-title textarea`);

/** The same on a page with a single field: the share of the browser and the machine. */
export async function touchesOfOneField(context: BrowserContext): Promise<readonly number[]> {
  const page = await context.newPage();
  await watchPaint(page);
  await page.goto("data:text/html,<!doctype html><title>One field</title><textarea></textarea>");
  const touches = await touchesToPaint(page, Array<string>(3).fill("textarea"));
  await page.close();
  return touches;
}

export const p75 = (sorted: readonly number[]): number => sorted[Math.ceil(sorted.length * 0.75) - 1] ?? Number.NaN;

/** The longest task of the page while another client writes 50 times a second; 0: none was longer than 50 ms. */
export async function longestTaskUnderHaste(
  demo: Demo,
  { page }: Board,
  { slideIds }: TestDeck,
): Promise<{ perSecond: number; longestMs: number }> {
  // Located by id, because a search by role among two hundred cards would be a long task itself.
  const last = page.locator(`#slide-${slideIds.at(-1)} .slide-notes textarea`);
  await forgetPaint(page);
  const name = `Edit ${Math.random().toString(36).slice(2, 6)}`;
  const perSecond = await writeHastily(demo, slideIds, name);
  await expect(last).toHaveValue(`${name} ${slideIds.length}`);
  return { perSecond, longestMs: Math.max(0, ...(await readPaint(page)).longTasks) };
}

/** The mean number of rendered cards when another client changes one slide. */
export async function cardsPerChange(demo: Demo, { page, title }: Board, { slideIds }: TestDeck): Promise<number> {
  const changes = 5;
  let rendered = 0;
  // A page that has just opened still renders its cards: it learns who else is here, and who claims what.
  await expect(async () => {
    await page.evaluate(rememberListeners);
    await page.waitForTimeout(300);
    expect(await page.evaluate(countNewListeners)).toBe(0);
  }).toPass();
  for (let n = 0; n < changes; n += 1) {
    const slide = n * 40;
    await page.evaluate(rememberListeners);
    const to = `Changed ${Math.random().toString(36).slice(2, 6)}`;
    await commit(demo, [{ action: "update", model: "slide", id: slideIds[slide], data: { title: to } }]);
    await expect(title(slide + 1)).toHaveValue(to);
    await page.waitForTimeout(200);
    rendered += await page.evaluate(countNewListeners);
  }
  return rendered / changes;
}

/** One write every 20 ms, one for each slide, whether or not those before it have been answered; resolves with how many a second it came to. */
async function writeHastily(demo: Demo, slideIds: readonly string[], name: string): Promise<number> {
  const begun = performance.now();
  const answers: Promise<unknown>[] = [];
  for (const [n, id] of slideIds.entries()) {
    const wait = begun + n * 20 - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    answers.push(commit(demo, [{ action: "update", model: "slide", id, data: { notes: `${name} ${n + 1}` } }]));
  }
  const perSecond = slideIds.length / ((performance.now() - begun) / 1000);
  await Promise.all(answers);
  return perSecond;
}

async function middleOf(page: Page, field: string): Promise<{ x: number; y: number }> {
  const place = page.locator(field);
  await place.scrollIntoViewIfNeeded();
  const box = await place.boundingBox();
  if (!box) throw new Error(`${field} is not shown.`);
  return { x: box.x + Math.min(60, box.width / 2), y: box.y + box.height / 2 };
}

// A card that renders has made a new listener for its keys, which Preact, on which the built page runs, keeps at the element,
// in an object by the listener's name. So a build without any tools tells which cards have rendered.
type Card = HTMLElement & { seen?: unknown };

function rememberListeners(): void {
  for (const card of document.querySelectorAll<Card>(".slide")) {
    card.seen = Object.values(card)
      .map((kept) => kept?.onKeyDown)
      .find((kept) => typeof kept === "function");
    if (!card.seen) throw new Error("A card without the listener by which renders are counted.");
  }
}

const countNewListeners = (): number =>
  [...document.querySelectorAll<Card>(".slide")].filter(
    (card) => !Object.values(card).some((kept) => kept?.onKeyDown === card.seen),
  ).length;
