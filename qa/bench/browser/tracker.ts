import { type Browser, chromium } from "@playwright/test";
import { p75, touchesOfOneField } from "../../../e2e/support/board-costs.ts";
import { watchPaint } from "../../../e2e/support/paint.ts";
import { startTracker, type Tracker, trackerPage } from "../../../e2e/support/tracker.ts";
import { type FilterClicks, filterClicks } from "../../../e2e/support/tracker-costs.ts";
import { browserArguments, ensureChromium } from "../../../scripts/browser.mjs";
import { summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";

const ISSUES = 5_000;
const TARGET = "target 50 ms";

/** The issue tracker of the examples as visitors get it: the built page in a real Chromium, each round in a new window. */
export async function measureTracker({ rounds, print }: { rounds: number; print(line: string): void }): Promise<Row[]> {
  await using tracker = await startTracker();
  await using browser = await chromium.launch({ args: browserArguments, executablePath: ensureChromium(print) });
  const all: Costs[] = [];
  for (let n = 0; n < rounds; n++) {
    const costs = await measureOnce(browser, tracker);
    all.push(costs);
    print(
      `round ${n + 1} of ${rounds}: click to paint ${costs.paintMs} ms, to the list ${costs.listMs.toFixed(1)} ms (one field alone ${costs.floorMs})`,
    );
  }
  const runs = (pick: (costs: Costs) => number) => summarize(all.map(pick));
  const floor = runs(({ floorMs }) => floorMs);
  const shown = (what: string, pick: (costs: Costs) => number): Row => {
    const figures = runs(pick);
    const against = `${(figures.median / floor.median).toFixed(2)} of the floor`;
    return { what, unit: "ms", runs: figures, against, note: TARGET };
  };
  return [
    {
      what: "floor: a page with one field, touch to paint at a quarter of the processor's speed, p75",
      unit: "ms",
      runs: floor,
      note: "in steps of 8 ms",
    },
    shown(`a click on a filter of ${ISSUES} issues, to the next paint`, ({ paintMs }) => paintMs),
    shown("the same, to the frame that shows the new list", ({ listMs }) => listMs),
  ];
}

interface Costs extends FilterClicks {
  readonly floorMs: number;
}

async function measureOnce(browser: Browser, { pageUrl }: Tracker): Promise<Costs> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await watchPaint(page);
  await page.goto(`${pageUrl}/?user=ann`);
  const ann = trackerPage(page);
  await ann.isSaved();
  await ann.counts(ISSUES);
  const clicks = await filterClicks(ann);
  const floorMs = p75(await touchesOfOneField(context));
  await context.close();
  return { ...clicks, floorMs };
}
