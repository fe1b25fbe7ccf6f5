import { summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import type { Options, Stage } from "../stage/stage.ts";
import type { BrowserStage } from "./browser-stage.ts";
import { fillSlides } from "./fill-slides.ts";
import { slowMainThread } from "./main-thread.ts";

/** What a phone of the middle class has of this machine's speed. */
const SLOWDOWN = 4;
const BURST = 1_000;
const ROWS = 50_000;

/** How long a slow device is busy with the client at a time: while it is, the page neither scrolls nor reacts. */
export async function measureSlowBrowser(
  stage: Stage,
  browser: BrowserStage,
  { rounds, print }: Options,
): Promise<Row[]> {
  const databaseUrl = await stage.database("browser_slow");
  const { url, tokens, stop } = await stage.server({ databaseUrl });
  const empty = await stage.server({ database: "browser_slow_queue" });
  await fillSlides(stage, databaseUrl, ROWS);
  const found = { burst: empties(), load: empties(), reload: empties() };
  const calls: number[] = [];
  for (let n = 0; n < rounds; n++) {
    const page = await browser.openPage();
    const thread = await slowMainThread(page, SLOWDOWN);
    const note = (what: keyof typeof found, took: number, task: { longestMs: number; busiestMs: number }) => {
      found[what].took.push(took);
      found[what].longest.push(task.longestMs);
      found[what].busiest.push(task.busiestMs);
    };
    await page.evaluate((o) => bench.open(o), {
      url: empty.url,
      token: empty.tokens[0] as string,
      store: `burst-${n}`,
    });
    const burst = await thread.longestTask(() => page.evaluate((count) => bench.burst(count), BURST));
    note("burst", burst.result.tookMs, burst);
    calls.push(burst.result.callMs);

    const opening = { url, token: tokens[0] as string, store: `slow-rows-${n}` };
    await page.reload();
    const load = await thread.longestTask(() => page.evaluate((o) => bench.snapshot(o), opening));
    note("load", load.result.storedMs, load);
    await page.evaluate((rows) => bench.checkRows(rows), ROWS);
    await page.reload();
    const reload = await thread.longestTask(() => page.evaluate((o) => bench.reopenRows(o), opening));
    note("reload", reload.result, reload);
    await page.evaluate((rows) => bench.checkRows(rows), ROWS);
    await page.close();
    print(
      `round ${n + 1} of ${rounds}, at ${SLOWDOWN} × slowdown: ${BURST} writes sent in ${burst.result.tookMs.toFixed(0)} ms (longest task ${told(burst)}, a call ${burst.result.callMs.toFixed(2)} ms), ${ROWS} rows stored in ${load.result.storedMs.toFixed(0)} ms (${told(load)}), shown again in ${reload.result.toFixed(0)} ms (${told(reload)})`,
    );
  }
  await stop();
  await empty.stop();
  const slow = `Chromium at ${SLOWDOWN} × slowdown`;
  const [burst, rows] = [BURST.toLocaleString("en-US"), ROWS.toLocaleString("en-US")];
  const ofEach = (what: string, { took, longest, busiest }: ReturnType<typeof empties>): Row[] => [
    { what: `${slow}: ${what}`, unit: "ms", runs: summarize(took) },
    { what: "the same: the longest task of the page", unit: "ms", runs: summarize(longest), note: "target 50 ms" },
    { what: "the same: the most processor time of a task", unit: "ms", runs: summarize(busiest) },
  ];
  return [
    ...ofEach(`${burst} writes in a burst, until the server has them`, found.burst),
    { what: "the same: a call of `update()`", unit: "ms", runs: summarize(calls) },
    ...ofEach(`first load of ${rows} rows, from the first byte to the position on disk`, found.load),
    ...ofEach(`page loaded again with ${rows} rows, until the first 50 of a sorted list are shown`, found.reload),
  ];
}

const told = ({ longestMs, busiestMs }: { longestMs: number; busiestMs: number }): string =>
  `${longestMs.toFixed(0)} ms, ${busiestMs.toFixed(0)} ms CPU`;

const empties = () => ({ took: [] as number[], longest: [] as number[], busiest: [] as number[] });
