import { chromium, expect, type Page } from "@playwright/test";
import { browserArguments, findChromium } from "../../scripts/browser.mjs";
import type { Demo } from "./demo.ts";
import { slowOrigin } from "./slow-origin.ts";
import { statusIn } from "./tabs.ts";

/** A tab on an origin that is not secure, where the browser offers no locks, and a second one when it is asked for. */
export interface InsecureTabs {
  readonly first: Page;
  openSecond(): Promise<Page>;
  close(): Promise<void>;
}

/** The delay is that of each direction. Another client writes meanwhile. */
export async function twoTabsWithoutLocks(demo: Demo, delayMs: number): Promise<InsecureTabs> {
  const origin = await slowOrigin(demo, delayMs);
  const executablePath = findChromium();
  const browser = await chromium.launch({
    args: [...browserArguments, ...origin.browserArguments],
    ...(executablePath && { executablePath }),
  });
  const context = await browser.newContext();
  const open = async () => {
    const page = await context.newPage();
    await page.goto(origin.url);
    await page.evaluate((at) => openClient(at, "ada"), origin.url);
    await expect.poll(async () => (await statusIn(page)).name).toBe("online");
    return page;
  };
  const first = await open();
  const others = writeElsewhere(demo);
  return {
    first,
    openSecond: open,
    async close() {
      await others();
      await browser.close();
      await origin.close();
    },
  };
}

/** The time to the receipt of several writes, one after the other. */
export const receiptsOf = (page: Page, prefix: string, count: number): Promise<number[]> =>
  page.evaluate(
    async ([start, n]) => {
      const delays: number[] = [];
      for (let i = 0; i < n; i++) {
        const before = performance.now();
        await client.models.slide.create({ title: `${i}` }, { id: `${start}-${i}` }).receipt;
        delays.push(performance.now() - before);
      }
      return delays;
    },
    [prefix, count] as const,
  );

export const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

function writeElsewhere({ serverUrl, secretKey }: Demo): () => Promise<void> {
  let isOver = false;
  const written = (async () => {
    for (let i = 0; !isOver; i++) {
      await fetch(`${serverUrl}/v1/models/slide`, {
        method: "POST",
        headers: { authorization: `Bearer ${secretKey}`, "content-type": "application/json" },
        body: JSON.stringify({ title: `Elsewhere ${i}` }),
      });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  return () => {
    isOver = true;
    return written;
  };
}
