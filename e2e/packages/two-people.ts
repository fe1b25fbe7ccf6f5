import type { Page } from "playwright";
import { expect } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { startBrowser } from "./newcomer-page.ts";

/** A page of the template `react`, as one person uses it. */
export interface PersonPage {
  readonly page: Page;
  titles(): Promise<string[]>;
  /** Types a title, and leaves the field. */
  write(at: number, title: string): Promise<void>;
  says(sentence: string | RegExp): Promise<void>;
}

/** Ann and Ben, each with a browser profile of their own. */
export async function openTwoPeople(pageUrl: string): Promise<{ ann: PersonPage; ben: PersonPage }> {
  const browser = await startBrowser();
  const open = async (user: string): Promise<PersonPage> => {
    const page = await browser.newPage();
    await page.goto(`${pageUrl}?user=${user}`);
    const fields = page.getByRole("textbox", { name: "Title" });
    return {
      page,
      titles: () => fields.evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value)),
      write: async (at, title) => {
        await fields.nth(at).fill(title);
        await fields.nth(at).blur();
      },
      says: (sentence) => page.getByRole("status").filter({ hasText: sentence }).waitFor(),
    };
  };
  const [ann, ben] = await Promise.all([open("ann"), open("ben")]);
  await Promise.all([ann, ben].map((person) => person.says(SAVED)));
  return { ann, ben };
}

export const SAVED = "Online. All changes are saved.";

/** An edit of one shows in the other's window. */
export async function editInBothWindows(ann: PersonPage, ben: PersonPage): Promise<void> {
  await until(async () => expect(await ben.titles()).toHaveLength(3));
  await ann.write(0, "Written by Ann");
  await until(async () => expect((await ben.titles())[0]).toBe("Written by Ann"));
}

/** Ann edits without a network; Ben sees it when she is back. */
export async function editOffline(ann: PersonPage, ben: PersonPage): Promise<void> {
  await ann.page.context().setOffline(true);
  await ann.write(1, "Written in a tunnel");
  await ann.page.getByRole("region", { name: "Waiting to be sent" }).getByText("Written in a tunnel").waitFor();
  await ben.write(2, "Written by Ben meanwhile");
  await ben.says(SAVED);
  expect(await ben.titles()).not.toContain("Written in a tunnel");
  await ann.page.context().setOffline(false);
  const expected = ["Written by Ann", "Written in a tunnel", "Written by Ben meanwhile"];
  await until(async () => expect(await ben.titles()).toEqual(expected));
  await until(async () => expect(await ann.titles()).toEqual(expected));
  await ann.says(SAVED);
}
