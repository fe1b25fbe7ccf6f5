import { p75 } from "./board-costs.ts";
import { forgetPaint, readPaint } from "./paint.ts";
import type { TrackerPage } from "./tracker.ts";

/** The shortest interaction that the browser tells of, in ms. */
const SHORTEST_TOLD = 16;

export interface FilterClicks {
  readonly clicks: number;
  /** From a click to the next paint, which shows the pressed button: as the browser itself measures it, p75, in ms. */
  readonly paintMs: number;
  /** From a click to the frame that shows the new list, p75, in ms. */
  readonly listMs: number;
}

/** Clicks on filters of the tracker, at a quarter of the processor's speed. The page was prepared by `watchPaint`. */
export async function filterClicks(tracker: TrackerPage): Promise<FilterClicks> {
  // Each filter is used once before: code that runs for the first time is slower.
  await clickFilters(tracker, 1);
  await forgetPaint(tracker.page);
  const shown = await clickFilters(tracker, 4);
  const { interactions } = await readPaint(tracker.page);
  const quick = Array<number>(Math.max(0, shown.length - interactions.length)).fill(SHORTEST_TOLD);
  return { clicks: shown.length, paintMs: p75(sorted([...interactions, ...quick])), listMs: p75(sorted(shown)) };
}

const sorted = (times: readonly number[]) => [...times].sort((a, b) => a - b);

/** Clicks each status on and off; resolves with the times from each click until the frame that shows the new count. */
async function clickFilters({ page }: TrackerPage, rounds: number): Promise<number[]> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1)
    for (const status of ["todo", "todo", "doing", "doing", "done", "done"]) {
      const box = await page.locator("nav button", { hasText: status }).boundingBox();
      if (!box) throw new Error(`${status} is not shown.`);
      await page.mouse.move(box.x + 20, box.y + 10);
      await page.waitForTimeout(300);
      const shown = page.evaluate(untilNewCount);
      await page.waitForTimeout(50);
      await page.mouse.down();
      await page.waitForTimeout(60);
      await page.mouse.up();
      times.push(await shown);
    }
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  await devtools.detach();
  return times;
}

/** From the next click to the frame after the list has said another count. */
const untilNewCount = () =>
  new Promise<number>((resolve) => {
    const status = document.querySelector(".issues [role=status]");
    let clickedAt = 0;
    addEventListener("click", (event) => (clickedAt = event.timeStamp), { capture: true, once: true });
    const observer = new MutationObserver(() => {
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - clickedAt)));
    });
    if (status) observer.observe(status, { childList: true, characterData: true, subtree: true });
  });
