import { summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import type { Options, Stage } from "../stage/stage.ts";
import type { BrowserStage } from "./browser-stage.ts";
import { fillSlides } from "./fill-slides.ts";

const ROWS = 100_000;

/** A first load of many rows, all the way to the disk, and the start after it. */
export async function measureBrowserRows(
  stage: Stage,
  browser: BrowserStage,
  { rounds, print }: Options,
): Promise<Row[]> {
  const databaseUrl = await stage.database("browser_rows");
  const { url, tokens, stop } = await stage.server({ databaseUrl });
  const token = tokens[0] as string;
  await fillSlides(stage, databaseUrl, ROWS);
  const stored: number[] = [];
  const shown: number[] = [];
  const bare: number[] = [];
  const reopened: number[] = [];
  for (let n = 0; n < rounds; n++) {
    const opening = { url, token, store: `rows-${n}` };
    const page = await browser.openPage();
    const { storedMs, readyMs } = await page.evaluate((o) => bench.snapshot(o), opening);
    await page.evaluate((rows) => bench.checkRows(rows), ROWS);
    stored.push((ROWS * 1_000) / storedMs);
    shown.push(readyMs);
    await page.reload();
    reopened.push(await page.evaluate((o) => bench.reopenRows(o), opening));
    await page.evaluate((rows) => bench.checkRows(rows), ROWS);
    await page.reload();
    const took = await page.evaluate(([name, rows]) => bench.barePut(name, rows), [`bare-rows-${n}`, ROWS] as const);
    bare.push((ROWS * 1_000) / took);
    await page.close();
    print(
      `round ${n + 1} of ${rounds}: snapshot ${Math.round(stored.at(-1) as number)} rows/s to disk (bare ${Math.round(bare.at(-1) as number)}), shown after ${readyMs.toFixed(0)} ms, after a reload ${reopened.at(-1)?.toFixed(0)} ms`,
    );
  }
  await stop();
  const rows = ROWS.toLocaleString("en-US");
  return [
    { what: `floor: Chromium, ${rows} rows of 330 B put, 2 000 a transaction`, unit: "rows/s", runs: summarize(bare) },
    {
      what: `Chromium: snapshot of ${rows} rows of 330 B, from the first byte to the position on disk`,
      unit: "rows/s",
      runs: summarize(stored),
      against: `${(summarize(stored).median / summarize(bare).median).toFixed(2)} of the floor`,
      note: "target 20 000/s",
    },
    { what: "the same, from the first byte to `ready()`", unit: "ms", runs: summarize(shown) },
    {
      what: `Chromium: page loaded again with ${rows} rows, until the first 50 of a sorted list are shown`,
      unit: "ms",
      runs: summarize(reopened),
    },
  ];
}
