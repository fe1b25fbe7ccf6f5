import { test as base, type ConsoleMessage, expect, type Page } from "@playwright/test";
import { type Board, createBoard } from "./board.ts";
import type { Demo } from "./demo.ts";
import { type Host, startHost } from "./host.ts";
import { createDeck, type TestDeck } from "./log.ts";

export { expect } from "@playwright/test";

/** The waits before the attempts to deliver to a mirror, in ms: a test sees each attempt and is done before the last. */
const SCHEDULE = "0,500,1000,10000,10000,10000,10000,10000";

interface Fixtures {
  /** Whether a mirror runs. */
  withMirror: boolean;
  /** How long the proofreader stays at each slide that it gets, in ms: `--pace` of its program. */
  pace: string;
  /** A schedule of its own gives a test a server of its own. */
  schedule: string;
  demo: Demo;
  /** Console errors that a test causes deliberately. */
  expectedOnConsole: RegExp[];
  /** Opens the board as a person, in a separate browser profile or in that of another window. */
  open(
    person: string,
    deckId: string,
    how?: { beside?: Board; settled?: boolean; prepare?(page: Page): Promise<void> },
  ): Promise<Board>;
  /** A new deck with these slides, as Ada and Ben see it. */
  openBoth(titles: readonly string[]): Promise<{ deck: TestDeck; ada: Board; ben: Board }>;
}

export const test = base.extend<Fixtures, { host: Host }>({
  host: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from this pattern
    async ({}, use) => {
      const host = await startHost(SCHEDULE);
      await use(host);
      await host.stop();
    },
    { scope: "worker", timeout: 120_000 },
  ],

  withMirror: [false, { option: true }],
  pace: ["0", { option: true }],
  schedule: [SCHEDULE, { option: true }],

  demo: async ({ host, schedule, withMirror, pace }, use) => {
    process.env.HOLDFAST_TEST_PACE = pace;
    const own = schedule === SCHEDULE ? undefined : await startHost(schedule);
    const demo = await (own ?? host).openDemo(withMirror);
    await use(demo);
    await demo.close();
    await own?.stop();
  },

  // A page that goes offline, or is left, may close a connection that is just being opened.
  // biome-ignore lint/correctness/noEmptyPattern: as above
  expectedOnConsole: async ({}, use) => use([/WebSocket is closed before the connection is established/]),

  open: async ({ browser, demo, expectedOnConsole }, use) => {
    const boards: Board[] = [];
    const complaints: string[] = [];
    await use(async (person, deckId, { beside, settled = true, prepare } = {}) => {
      const context = beside?.context ?? (await browser.newContext());
      const page = await context.newPage();
      page.on("pageerror", (error) => complaints.push(String(error)));
      page.on("console", (message) => isComplaint(message) && complaints.push(message.text()));
      await prepare?.(page);
      await page.goto(`${demo.pageUrl}/?person=${person}&deck=${deckId}`);
      // A deck has a title; one that is not there yet has none.
      if (settled) await expect(page.getByRole("heading", { level: 1 })).not.toHaveText("Holdfast");
      const board = createBoard(page, context);
      boards.push(board);
      return board;
    });
    for (const context of new Set(boards.map((board) => board.context))) await context.close();
    const surprises = complaints.filter((text) => !expectedOnConsole.some((pattern) => pattern.test(text)));
    expect(surprises, "nothing unexpected on the console").toEqual([]);
  },

  openBoth: async ({ demo, open }, use) =>
    use(async (titles) => {
      const deck = await createDeck(demo, titles);
      return { deck, ada: await open("ada", deck.id), ben: await open("ben", deck.id) };
    }),
});

const isComplaint = (message: ConsoleMessage) => message.type() === "error" || message.type() === "warning";
