import { percentile, summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import type { Options, Stage } from "../stage/stage.ts";
import type { BrowserStage } from "./browser-stage.ts";

const WRITES = 300;
const QUEUED = 10_000;

/** What a write costs until it is on disk, and what a long queue costs when the page is loaded again. */
export async function measureBrowserQueue(
  stage: Stage,
  browser: BrowserStage,
  { rounds, print }: Options,
): Promise<Row[]> {
  const { url, tokens, stop } = await stage.server({ database: "browser_queue" });
  const token = tokens[0] as string;
  const found = {
    p50: [] as number[],
    p99: [] as number[],
    offline50: [] as number[],
    bare50: [] as number[],
    bare99: [] as number[],
  };
  const reopened: number[] = [];
  const bareRead: number[] = [];
  for (let n = 0; n < rounds; n++) {
    const page = await browser.openPage();
    await page.evaluate((o) => bench.open(o), { url, token, store: `enqueue-${n}` });
    const mine = (await page.evaluate((count) => bench.enqueue(count), WRITES)).sort((a, b) => a - b);
    await page.evaluate(() => bench.pause());
    const offline = (await page.evaluate((count) => bench.enqueue(count), WRITES)).sort((a, b) => a - b);
    const bare = (
      await page.evaluate(([name, count]) => bench.bareCommits(name, count), [`bare-${n}`, WRITES] as const)
    ).sort((a, b) => a - b);
    found.p50.push(percentile(mine, 0.5));
    found.p99.push(percentile(mine, 0.99));
    found.offline50.push(percentile(offline, 0.5));
    found.bare50.push(percentile(bare, 0.5));
    found.bare99.push(percentile(bare, 0.99));

    await page.reload();
    const opening = { url, token, store: `queue-${n}`, paused: true };
    await page.evaluate(
      async ([o, count]) => {
        // Rows come first: a client that has never been online shows its queue too, but no app begins so.
        await bench.open({ ...o, paused: false });
        await bench.pause();
        await bench.queueMany(count);
      },
      [opening, QUEUED] as const,
    );
    await page.evaluate(([name, count]) => bench.bareFill(name, count), [`bare-queue-${n}`, QUEUED] as const);
    await page.reload();
    reopened.push(await page.evaluate(([o, count]) => bench.reopenQueue(o, count), [opening, QUEUED] as const));
    await page.reload();
    bareRead.push(await page.evaluate((name) => bench.bareReadAll(name), `bare-queue-${n}`));
    await page.close();
    print(
      `round ${n + 1} of ${rounds}: on disk ${found.p50.at(-1)?.toFixed(2)} ms, offline ${found.offline50.at(-1)?.toFixed(2)} ms (bare ${found.bare50.at(-1)?.toFixed(2)} ms), ${QUEUED} queued shown again in ${reopened.at(-1)?.toFixed(0)} ms (bare read ${bareRead.at(-1)?.toFixed(0)} ms)`,
    );
  }
  await stop();
  const queued = QUEUED.toLocaleString("en-US");
  const ratio = (a: number[], b: number[]) => `${(summarize(a).median / summarize(b).median).toFixed(2)} of the floor`;
  return [
    {
      what: "floor: Chromium, one object put and committed, strict, p50",
      unit: "ms",
      runs: summarize(found.bare50),
    },
    { what: "the same, p99", unit: "ms", runs: summarize(found.bare99) },
    {
      what: "Chromium: update() until it is on disk (`queued`), while it is sent, p50",
      unit: "ms",
      runs: summarize(found.p50),
      against: ratio(found.p50, found.bare50),
      note: "target 5 ms",
    },
    {
      what: "the same while nothing is sent, p50",
      unit: "ms",
      runs: summarize(found.offline50),
      against: ratio(found.offline50, found.bare50),
      note: "target 5 ms",
    },
    {
      what: "while it is sent, p99",
      unit: "ms",
      runs: summarize(found.p99),
      against: ratio(found.p99, found.bare99),
    },
    { what: `floor: Chromium, ${queued} objects of that size read at once`, unit: "ms", runs: summarize(bareRead) },
    {
      what: `Chromium: page loaded again with ${queued} queued writes, until all are shown`,
      unit: "ms",
      runs: summarize(reopened),
      against: ratio(reopened, bareRead),
      note: "target 500 ms",
    },
  ];
}
