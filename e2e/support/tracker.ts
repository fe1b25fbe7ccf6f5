import { expect, type Locator, type Page } from "@playwright/test";
import { freePort, installExample } from "../examples/install-example.ts";
import { ending, runIn } from "../packages/run-command.ts";

/** The issue tracker of `examples/tracker` as its README starts it, with what its seed writes. */
export interface Tracker extends AsyncDisposable {
  readonly pageUrl: string;
  stop(): Promise<void>;
}

export async function startTracker(): Promise<Tracker> {
  const example = await installExample("tracker");
  await example.run("npm", ["run", "types"]);
  const [pagePort, serverPort] = [await freePort(), await freePort()];
  const env = { HOLDFAST_URL: `http://127.0.0.1:${serverPort}`, PORT: String(pagePort) };
  // Node itself, and no npm around it: so that ending it ends all of it.
  const path = `${example.folder}/node_modules/.bin:${process.env.PATH}`;
  const child = runIn(example.folder, process.execPath, ["--import", "tsx", "start.ts"], { ...env, PATH: path });
  const ended = ending(child);
  const pageUrl = `http://127.0.0.1:${pagePort}`;
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
    example.remove();
  };
  try {
    await Promise.race([
      untilUp(pageUrl),
      ended.then(({ output }) => Promise.reject(new Error(`It ended:\n${output}`))),
    ]);
    await example.run("npm", ["run", "seed"], env);
  } catch (error) {
    await stop();
    throw error;
  }
  return { pageUrl, stop, [Symbol.asyncDispose]: stop };
}

/** Resolves when the page is served. */
const untilUp = (url: string) =>
  expect(async () => expect((await fetch(url)).ok).toBe(true)).toPass({ timeout: 60_000, intervals: [200] });

/** The page of one person. */
export interface TrackerPage {
  readonly page: Page;
  readonly issues: Locator;
  readonly filters: Locator;
  /** The open issue. */
  readonly issue: Locator;
  /** Resolves when the list has so many issues. */
  counts(issues: number): Promise<void>;
  open(id: string): Promise<void>;
  /** Goes to an address, as a link does. */
  follow(hash: string): Promise<void>;
  choose(field: "Project" | "Label" | "Order", choice: string): Promise<void>;
  isSaved(): Promise<void>;
}

export function trackerPage(page: Page): TrackerPage {
  const issues = page.getByRole("region", { name: "Issues" });
  const filters = page.getByRole("navigation", { name: "Filters" });
  const follow = (hash: string) => page.evaluate((to) => location.assign(to), hash);
  return {
    page,
    issues,
    filters,
    issue: page.locator("section[aria-labelledby=heading]"),
    counts: (count) => expect(issues.getByRole("status")).toHaveText(`${count} issues`),
    open: (id) => follow(`#/${id}`),
    follow,
    choose: async (field, choice) => {
      await filters.getByRole("combobox", { name: field, exact: true }).selectOption(choice);
    },
    isSaved: () => expect(page.getByRole("banner").getByRole("status")).toHaveText("Online, all is saved"),
  };
}
