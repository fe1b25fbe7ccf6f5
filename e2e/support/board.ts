import { type BrowserContext, expect, type Page } from "@playwright/test";

export type Board = ReturnType<typeof createBoard>;

/** The page as a person uses and sees it. */
export function createBoard(page: Page, context: BrowserContext) {
  const slides = () => page.getByRole("article");
  const title = (slide: number) => page.getByRole("textbox", { name: `Title of slide ${slide}`, exact: true });
  const text = (slide: number) => page.getByRole("textbox", { name: `Text of slide ${slide}`, exact: true });
  const line = (name: "online" | "slow" | "lossy" | "offline") =>
    page.getByRole("radio", { name: new RegExp(`^${name}`) });
  const status = (words: string) => page.getByRole("status").filter({ hasText: words });
  const card = (slide: number) => page.getByRole("listitem").filter({ has: title(slide) });

  return {
    page,
    context,
    title,
    text,
    status,
    card,
    line,
    /** Types a title and presses Enter. */
    async rename(slide: number, to: string) {
      await title(slide).fill(to);
      await title(slide).press("Enter");
    },
    async rewrite(slide: number, to: string) {
      await text(slide).fill(to);
      await text(slide).blur();
    },
    press: (name: string) => page.getByRole("button", { name }).click(),
    async workOffline() {
      await line("offline").check();
      await expect(status("Working offline")).toBeVisible();
    },
    async comeBack() {
      await line("online").check();
      await expect(status("Working offline")).toBeHidden();
    },
    /** Resolves when all writes of the page have reached the log. */
    async isSaved() {
      await page.evaluate(untilPainted);
      await expect(status("All changes saved")).toBeVisible();
    },
    async shows(titles: readonly string[]) {
      await expect(slides()).toHaveCount(titles.length);
      for (const [at, expected] of titles.entries()) await expect(title(at + 1)).toHaveValue(expected);
    },
    async openConflict() {
      await page.getByRole("button", { name: "Decide…" }).click();
      return page.getByRole("dialog");
    },
  };
}

/**
 * The page saves typed text after its next paint (apps/demo/src/slides/after-paint.ts), and then shows that it saves. This
 * waits in the same queues as the page, so it resolves later: after the save, and after the paint that shows it.
 */
async function untilPainted(): Promise<void> {
  for (let paints = 0; paints < 3; paints += 1)
    await new Promise<void>((resolve) => {
      requestAnimationFrame(() => setTimeout(resolve));
      setTimeout(resolve, 100);
    });
}
