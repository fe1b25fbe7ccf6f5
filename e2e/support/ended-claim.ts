import { expect } from "@playwright/test";
import type { Board } from "./board.ts";
import type { Demo } from "./demo.ts";
import { createDeck } from "./log.ts";

/** Ada edits under a claim, which ends while her window is offline; then Ben edits, and she comes back. */
export async function editUnderEndedClaim(
  demo: Demo,
  open: (person: string, deckId: string) => Promise<Board>,
  endClaim: (ada: Board, slideId: string) => Promise<void>,
): Promise<void> {
  const deck = await createDeck(demo, ["One"]);
  const ada = await open("ada", deck.id);
  const ben = await open("ben", deck.id);
  await ada.title(1).pressSequentially("a");
  await expect(ben.card(1)).toContainText("Ada is editing.");
  await ada.context.setOffline(true);
  await ada.title(1).fill("Ada, in the tunnel");
  await ada.title(1).press("Enter");
  await expect(ada.title(1)).toHaveValue("Ada, in the tunnel");
  await endClaim(ada, deck.slideIds[0] ?? "");
  await expect(ben.title(1)).toBeEditable();
  await ben.title(1).fill("Ben meanwhile");
  await ben.isSaved();
  await ben.title(1).pressSequentially("!");
  await ada.context.setOffline(false);
  await expect(ada.page.getByText("You changed the title of “One”, and Ben had it by then.")).toBeVisible();
  await ben.title(1).press("Enter");
  await expect(ada.page.getByText("is editing")).toBeHidden();
  const dialog = await ada.openConflict();
  await expect(dialog.locator(".version")).toContainText([/Ada, in the tunnel/, /One/, /Ben meanwhile!/]);
  await ada.press("Keep mine");
  await ada.isSaved();
  await expect(ben.title(1)).toHaveValue("Ada, in the tunnel");
}
