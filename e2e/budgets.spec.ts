import { gzipSync } from "node:zlib";
import type { Board } from "./support/board.ts";
import type { Demo } from "./support/demo.ts";
import { commit, createDeck } from "./support/log.ts";
import { forgetPaint, readPaint, watchPaint } from "./support/paint.ts";
import { createReport } from "./support/report.ts";
import { expect, test } from "./support/test.ts";

// A trace takes the whole page down at every step: that is what would be measured.
test.use({ trace: "off" });

const SCRIPT_BYTES = 120_000;
const LONGEST_TASK_MS = 200;
/** Wanted are 50. What a machine with other work on it measures is mostly that work, so this only finds what is badly slow. */
const SLOWEST_PAINT_MS = 200;

test("[Y11] two hundred slides: what is loaded, how soon it paints, and what an agent's haste does to it", async ({
  demo,
  open,
}) => {
  test.setTimeout(90_000);
  const report = await createReport("budgets", "What the slide board costs");
  const titles = Array.from({ length: 200 }, (_, at) => `Slide ${at + 1}`);
  const deck = await createDeck(demo, titles);
  const scripts: Promise<number>[] = [];
  const ada = await open("ada", deck.id, {
    prepare: async (page) => {
      await watchPaint(page);
      page.on("response", (response) => {
        if (response.request().resourceType() !== "script") return;
        scripts.push(response.body().then((bytes) => gzipSync(bytes).length));
      });
    },
  });
  await expect(ada.title(1)).toBeEditable();
  await expect(ada.title(200)).toHaveValue("Slide 200");
  await ada.isSaved();
  const bytes = (await Promise.all(scripts)).reduce((sum, one) => sum + one, 0);
  report.figure(
    `Scripts until a slide can be edited: ${(bytes / 1000).toFixed(1)} kB with gzip, of ${SCRIPT_BYTES / 1000}`,
  );
  expect(scripts.length).toBeGreaterThan(1);
  expect(bytes).toBeLessThanOrEqual(SCRIPT_BYTES);

  const paints = await editSlowly(ada);
  const p75 = paints[Math.ceil(paints.length * 0.75) - 1] ?? 0;
  report.figure(
    `From a touch to the next paint, at a quarter of the speed: p75 ${p75} ms of ${paints.length}; wanted are 50`,
  );
  expect(paints.length).toBeGreaterThan(10);
  expect(p75).toBeLessThanOrEqual(SLOWEST_PAINT_MS);

  await forgetPaint(ada.page);
  const perSecond = await writeHastily(demo, deck.slideIds, 200);
  await expect(ada.text(200)).toHaveValue("Edit 200");
  const longest = Math.max(0, ...(await readPaint(ada.page)).longTasks);
  report.figure(`While an agent made ${perSecond.toFixed(0)} edits/s: longest task ${longest} ms (0: none above 50)`);
  expect(longest).toBeLessThanOrEqual(LONGEST_TASK_MS);
  await report.write();
});

/** Types into four slides with a processor of a quarter of its speed; the times from touch to paint, in order of length. */
async function editSlowly({ page, context, title }: Board): Promise<readonly number[]> {
  const devtools = await context.newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  await forgetPaint(page);
  for (const slide of [1, 2, 3, 4]) {
    await title(slide).click();
    await page.keyboard.type("abcd", { delay: 120 });
    await page.keyboard.press("Enter");
  }
  await expect(title(4)).toHaveValue(/abcd/);
  const { interactions } = await readPaint(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  return [...interactions].sort((a, b) => a - b);
}

/** One write every 20 ms, whether or not those before it have been answered; resolves with how many a second it came to. */
async function writeHastily(demo: Demo, slideIds: readonly string[], edits: number): Promise<number> {
  const begun = performance.now();
  const answers: Promise<unknown>[] = [];
  for (let n = 0; n < edits; n += 1) {
    const wait = begun + n * 20 - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const id = slideIds[n % slideIds.length];
    answers.push(commit(demo, [{ action: "update", model: "slide", id, data: { notes: `Edit ${n + 1}` } }]));
  }
  const perSecond = edits / ((performance.now() - begun) / 1000);
  await Promise.all(answers);
  return perSecond;
}
