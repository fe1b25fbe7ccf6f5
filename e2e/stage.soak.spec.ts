import { violations } from "./support/axe.ts";
import type { Board } from "./support/board.ts";
import { expect, test } from "./support/test.ts";

/** Whether a slide's title is in sight. */
const sees = (board: Board, slide: number) => expect(board.title(slide)).toBeInViewport();

test.describe("with an agent that stays at the last slide for a while", () => {
  test.use({ pace: "0,0,0,0,0,0,0,12000" });

  test("[Y13] the proofreader's changes are shown as diffs, the view goes along, and a sentence ends the run", async ({
    openBoth,
  }) => {
    const right = ["Two", "Three", "Four", "Five", "Six", "Seven"];
    const { ada, ben } = await openBoth(["Teh first", ...right, `The the "last"`]);
    await expect(ada.title(8)).not.toBeInViewport();
    await ada.page.emulateMedia({ reducedMotion: "reduce" });
    await ada.press("Let it proofread this deck");
    const panel = ada.page.getByRole("region", { name: "The proofreader" });
    const changes = panel.getByRole("list", { name: "Its changes" }).locator("> li");
    await expect(panel).toContainText("The proofreader is reading: 1 slide changed so far.");
    await expect(changes.locator("del")).toHaveText(["Teh ", "Teh "]);
    await expect(changes.locator("ins")).toHaveText(["The ", "The "]);
    await sees(ada, 8);
    await expect(panel).toContainText("Done, 2 slides changed.");
    await expect(changes).toHaveCount(2);
    await expect(changes.last()).toContainText("The “last”");
    expect(await violations(ada.page)).toEqual([]);
    await ben.shows(["The first", ...right, "The “last”"]);
    // Ben has not asked for it: his view stays where it was.
    await sees(ben, 1);
    await panel.getByRole("button", { name: "Close" }).click();
    await expect(panel).toBeHidden();
  });
});
