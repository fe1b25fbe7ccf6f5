import { cardsPerChange, manyTitles, untilEditable, weighScripts } from "./support/board-costs.ts";
import { createDeck } from "./support/log.ts";
import { createReport } from "./support/report.ts";
import { expect, test } from "./support/test.ts";

const SCRIPT_BYTES = 158_000;

test("[Y11] two hundred slides: loaded bytes, and cards that render", async ({ demo, open }) => {
  const report = await createReport("budgets", "What the slide board costs");
  const deck = await createDeck(demo, manyTitles);
  let weigh = async () => 0;
  const ada = await open("ada", deck.id, {
    prepare: async (page) => {
      weigh = weighScripts(page);
    },
  });
  await untilEditable(ada);
  const bytes = await weigh();
  report.figure(
    `Scripts until a slide can be edited: ${(bytes / 1000).toFixed(1)} kB with gzip, of ${SCRIPT_BYTES / 1000}`,
  );
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThanOrEqual(SCRIPT_BYTES);

  const cards = await cardsPerChange(demo, ada, deck);
  report.figure(`Cards that render when another person changes one slide: ${cards} of ${manyTitles.length}`);
  expect(cards).toBe(1);
  await report.write();
});
