import { type Browser, chromium } from "@playwright/test";
import { createBoard } from "../../../e2e/support/board.ts";
import {
  cardsPerChange,
  longestTaskUnderHaste,
  manyTitles,
  p75,
  titleFields,
  touchesOfOneField,
  touchesToPaint,
  untilEditable,
  weighScripts,
} from "../../../e2e/support/board-costs.ts";
import { type Demo, startDemo } from "../../../e2e/support/demo.ts";
import { createDeck, type TestDeck } from "../../../e2e/support/log.ts";
import { watchPaint } from "../../../e2e/support/paint.ts";
import { browserArguments, ensureChromium } from "../../../scripts/browser.mjs";
import { summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";

/** The slide board as visitors get it: the built page in a real Chromium, with 200 slides, each round in a new window. */
export async function measureDemo({ rounds, print }: { rounds: number; print(line: string): void }): Promise<Row[]> {
  await using demo = await startDemo();
  await using browser = await chromium.launch({ args: browserArguments, executablePath: ensureChromium(print) });
  const deck = await createDeck(demo, manyTitles);
  const all: Costs[] = [];
  for (let n = 0; n < rounds; n++) {
    const costs = await measureOnce(browser, demo, deck);
    all.push(costs);
    print(
      `round ${n + 1} of ${rounds}: ${costs.scriptKb.toFixed(1)} kB, touch to paint ${costs.paintMs} ms (one field alone ${costs.floorMs}), longest task ${costs.longestTaskMs} ms, ${costs.cards} cards a change`,
    );
  }
  const runs = (pick: (costs: Costs) => number) => summarize(all.map(pick));
  const [paint, floor] = [runs(({ paintMs }) => paintMs), runs(({ floorMs }) => floorMs)];
  return [
    {
      what: "demo: scripts until a slide can be edited, gzip",
      unit: "kB",
      runs: runs(({ scriptKb }) => scriptKb),
      note: "target 122 kB",
    },
    {
      what: "floor: a page with one field, touch to paint at a quarter of the processor's speed, p75",
      unit: "ms",
      runs: floor,
      note: "in steps of 8 ms",
    },
    {
      what: `demo: the same with ${manyTitles.length} slides`,
      unit: "ms",
      runs: paint,
      against: `${(paint.median / floor.median).toFixed(2)} of the floor`,
      note: "target 50 ms",
    },
    {
      what: "demo: longest task of the page while an agent writes 50 edits/s",
      unit: "ms",
      runs: runs(({ longestTaskMs }) => longestTaskMs),
      note: "target 200 ms; 0: none above 50",
    },
    {
      what: `demo: cards rendered when one of ${manyTitles.length} slides is changed`,
      unit: "",
      runs: runs(({ cards }) => cards),
      note: "target 1",
    },
  ];
}

interface Costs {
  readonly scriptKb: number;
  readonly paintMs: number;
  readonly floorMs: number;
  readonly longestTaskMs: number;
  readonly cards: number;
}

async function measureOnce(browser: Browser, demo: Demo, deck: TestDeck): Promise<Costs> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await watchPaint(page);
  const weigh = weighScripts(page);
  await page.goto(`${demo.pageUrl}/?person=ada&deck=${deck.id}`);
  const board = createBoard(page, context);
  await untilEditable(board);
  const scriptKb = (await weigh()) / 1_000;
  const paintMs = p75(await touchesToPaint(page, titleFields(deck)));
  const floorMs = p75(await touchesOfOneField(context));
  const { longestMs } = await longestTaskUnderHaste(demo, board, deck);
  const cards = await cardsPerChange(demo, board, deck);
  await context.close();
  return { scriptKb, paintMs, floorMs, longestTaskMs: longestMs, cards };
}
