import type { Page } from "@playwright/test";
import { watchWrites } from "../../../e2e/support/sent-writes.ts";
import { summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import type { Options, Stage } from "../stage/stage.ts";
import type { BrowserStage } from "./browser-stage.ts";

const QUEUED = 2_000;
/** Longer than what is allowed, so that it is the other tab that is measured and not the thaw. */
const FROZEN_MS = 12_000;
const LONGEST_MS = 60_000;

/** How long nothing is sent when the tab that sends is gone, or stands still with its locks held. */
export async function measureTakeover(stage: Stage, browser: BrowserStage, { rounds, print }: Options): Promise<Row[]> {
  const { url, tokens, stop } = await stage.server({ database: "browser_takeover" });
  const token = tokens[0] as string;
  const killed: number[] = [];
  const frozen: number[] = [];
  for (let n = 0; n < rounds; n++) {
    killed.push(await takeover(browser, { url, token, store: `killed-${n}` }, crash));
    frozen.push(await takeover(browser, { url, token, store: `frozen-${n}` }, freeze));
    print(
      `round ${n + 1} of ${rounds}: another tab sends ${killed.at(-1)?.toFixed(0)} ms after a crash, ${frozen.at(-1)?.toFixed(0)} ms after a freeze`,
    );
  }
  await stop();
  return [
    {
      what: `Chromium: from a crash of the tab that sends to another tab's first request, ${QUEUED.toLocaleString("en-US")} writes queued`,
      unit: "ms",
      runs: summarize(killed),
      note: "target 1 000 ms",
    },
    {
      what: "the same when it stands still and keeps its locks",
      unit: "ms",
      runs: summarize(frozen),
      note: "target 10 000 ms",
    },
  ];
}

/** From the moment in which the leader was hurt, in the middle of its queue, until the other sends. */
async function takeover(
  { context, openPage }: BrowserStage,
  opening: { url: string; token: string; store: string },
  /** Resolves with how to end it. */
  hurt: (leader: Page) => Promise<() => Promise<unknown>>,
): Promise<number> {
  const leader = await openPage();
  await leader.evaluate((o) => bench.open(o), opening);
  const other = await openPage();
  await other.evaluate((o) => bench.open(o), opening);
  await context.setOffline(true);
  await other.evaluate((count) => bench.queueMany(count), QUEUED);
  const sends = firstWrites(leader);
  const follows = firstWrites(other);
  await context.setOffline(false);
  await sends;
  const start = performance.now();
  const end = await hurt(leader);
  await follows;
  const took = performance.now() - start;
  await end();
  await Promise.all([leader.close(), other.close()]);
  return took;
}

/** Resolves when the page sends writes, in a request or on the stream that it opens next. */
function firstWrites(page: Page): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`A tab sent no writes within ${LONGEST_MS} ms.`)), LONGEST_MS);
    watchWrites(page, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

async function crash(leader: Page): Promise<() => Promise<unknown>> {
  const session = await leader.context().newCDPSession(leader);
  // It is never answered.
  session.send("Page.crash").catch(() => {});
  return async () => {};
}

/** Nothing of the page runs, as when the browser freezes it; a test cannot make Chromium do that to a page in front. */
async function freeze(leader: Page): Promise<() => Promise<unknown>> {
  const thawed = leader.evaluate((until) => {
    while (Date.now() < until);
  }, Date.now() + FROZEN_MS);
  return () => thawed;
}
