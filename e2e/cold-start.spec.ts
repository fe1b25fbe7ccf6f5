import { seriousViolations } from "./support/axe.ts";
import { createBoard } from "./support/board.ts";
import { startDemo, type WholeDemo } from "./support/demo.ts";
import { createDeck, entriesOf } from "./support/log.ts";
import { newProfile, type Profile } from "./support/profile.ts";
import { test as base, expect } from "./support/test.ts";

/** A browser that can be restarted, and a demo of its own that can be taken down. */
const test = base.extend<{ profile: Profile; demo: WholeDemo }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from this pattern
  demo: async ({}, use) => {
    const demo = await startDemo();
    await use(demo);
    await demo.stop();
  },

  // biome-ignore lint/correctness/noEmptyPattern: as above
  profile: async ({}, use) => {
    const profile = await newProfile();
    await use(profile);
    await profile.remove();
  },
});

test("[Y1] [D9] after its first visit the board opens in a new browser while its server is down, and loses nothing", async ({
  demo,
  profile,
}) => {
  const deck = await createDeck(demo, ["One", "Two"]);
  const open = async () => {
    const context = await profile.start();
    const [page = await context.newPage()] = context.pages();
    await page.goto(`${demo.pageUrl}/?person=ada&deck=${deck.id}`);
    return createBoard(page, context);
  };

  const online = await open();
  await online.rename(1, "Written before");
  await online.isSaved();
  await online.page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  await online.context.close();
  expect(profile.complaints).toEqual([]);

  await demo.takeDown();
  const offline = await open();
  await offline.shows(["Written before", "Two"]);
  await offline.rename(2, "Written without a server");
  await expect(offline.card(2)).toContainText("Waiting to be sent");
  // The token endpoint is down too, which must not prompt for a sign-in.
  await expect(offline.status("No connection")).toBeVisible();
  await offline.page.reload();
  await offline.shows(["Written before", "Written without a server"]);
  await expect(offline.card(2)).toContainText("Waiting to be sent");
  await expect(offline.status("No connection")).toBeVisible();
  expect(await seriousViolations(offline.page)).toEqual([]);

  await demo.comeBack();
  // The window gets the focus again.
  await offline.page.evaluate(() => void dispatchEvent(new Event("focus")));
  await offline.isSaved();
  await offline.shows(["Written before", "Written without a server"]);
  for (const id of deck.slideIds)
    expect((await entriesOf(demo, id)).map(({ verb }) => verb)).toEqual(["created", "updated"]);
  // While it starts, the server answers 503 (BEHAVIOR.md, O21), and then ends those connections.
  expect(profile.complaints.filter((text) => !/ERR_CONNECTION_(REFUSED|RESET)|\b503\b/.test(text))).toEqual([]);
});
