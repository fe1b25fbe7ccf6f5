import { callServer } from "../apps/demo/dev/call-server.ts";
import { personToken } from "../apps/demo/dev/person-tokens.ts";
import { editUnderEndedClaim } from "./support/ended-claim.ts";
import { readRecord } from "./support/log.ts";
import { expect, test } from "./support/test.ts";

test("while one person types into a slide, the other waits for it, and gets it after the last key", async ({
  openBoth,
}) => {
  const { ada, ben } = await openBoth(["One", "Two"]);

  await ada.title(1).pressSequentially(" more", { delay: 20 });
  await expect(ben.card(1)).toContainText("Ada is editing.");
  await expect(ben.title(1)).not.toBeEditable();
  await expect(ben.title(2)).toBeEditable();
  await ben.press("Wait in line");
  await expect(ben.card(1)).toContainText("Ada is editing. You are next.");
  await expect(ada.card(1)).toContainText("Ben waits.");

  await ada.title(1).press("Enter");
  await expect(ben.card(1)).toContainText("It is your turn.");
  // The last typed text is there when the other person gets the claim.
  await expect(ben.title(1)).toHaveValue(/ more/);
  await ben.rename(1, "Ben’s now");
  await expect(ada.title(1)).toHaveValue("Ben’s now");
  await expect(ada.title(1)).toBeEditable();
  await expect(ben.card(1)).not.toContainText("turn");
});

test("leaving the claim queue removes the waiter, and closing a window releases its claims", async ({ openBoth }) => {
  const { ada, ben } = await openBoth(["One"]);
  await ada.title(1).pressSequentially("x");
  await ben.press("Wait in line");
  await expect(ada.card(1)).toContainText("Ben waits.");
  await ben.press("Leave the line");
  await expect(ada.card(1)).not.toContainText("Ben waits.");
  await ada.page.close();
  await expect(ben.title(1)).toBeEditable();
});

test("people see who has the deck open, and at which slide; a reload does not flicker", async ({ openBoth }) => {
  const { ada, ben } = await openBoth(["One", "Two"]);
  const here = ada.page.getByRole("list", { name: "Who is here" });
  await expect(here.getByRole("listitem")).toHaveText([/You/, /Ben/]);
  await ben.title(2).focus();
  await expect(ada.card(2).getByRole("list", { name: "Who is at this slide" })).toHaveText(/Ben/);
  await ben.title(2).blur();
  await expect(ada.card(2).getByRole("list", { name: "Who is at this slide" })).toBeHidden();

  await ada.page.evaluate(() => {
    const list = document.querySelector(".peers");
    const counts = new Set<number>();
    Object.assign(window, { counts });
    new MutationObserver(() => counts.add(document.querySelectorAll(".top .avatar").length)).observe(
      list?.parentElement as Element,
      { childList: true, subtree: true },
    );
  });
  // The server waits 5 s for a session to come back. A reload that a busy machine makes longer shows nothing: again.
  for (let tookMs = Number.POSITIVE_INFINITY; tookMs > 4_000; ) {
    await ada.page.evaluate(() => (window as unknown as { counts: Set<number> }).counts.clear());
    const begun = performance.now();
    await ben.page.reload();
    await expect(ben.title(1)).toHaveValue("One");
    await expect(ben.page.getByRole("list", { name: "Who is here" }).getByRole("listitem")).toHaveCount(2);
    tookMs = performance.now() - begun;
    await expect(here.getByRole("listitem")).toHaveCount(2);
    const counts = await ada.page.evaluate(() => [...(window as unknown as { counts: Set<number> }).counts]);
    if (tookMs <= 4_000) expect(counts).not.toContain(1);
  }
  await ben.context.close();
  await expect(here.getByRole("listitem")).toHaveText([/You/]);
});

test.describe("with an agent that stays at its first slide until it is taken over", () => {
  test.use({ pace: "600000,0" });

  test("an agent works slide by slide under claims, skips slides that a person edits, and a person takes one over from it", async ({
    demo,
    openBoth,
  }) => {
    const { deck, ada, ben } = await openBoth([`"One"`, `"Two"`, `"Three"`]);
    // Ada is at the first: the agent leaves it for the end.
    await ada.title(1).pressSequentially(" ");
    await expect(ben.card(1)).toContainText("Ada is editing.");
    await ben.press("Let it proofread this deck");
    await expect(ben.card(2)).toContainText("The proofreader: correcting mistakes.");
    await expect(ben.title(2)).not.toBeEditable();
    await ben.card(2).getByRole("button", { name: "Take over" }).click();
    await expect(ben.title(2)).toBeEditable();
    await expect(ben.title(2)).toBeFocused();
    await ben.rename(2, `"Two", Ben says`);
    // It goes on with the next, and comes back to the first once Ada is done.
    await expect(ada.title(3)).toHaveValue("“Three”");
    await ada.title(1).press("Enter");
    await expect(ada.title(1)).toHaveValue(/“One”/);
    await ada.isSaved();
    expect(await readRecord(demo, "slide", deck.slideIds[1] ?? "")).toMatchObject({ title: `"Two", Ben says` });
  });
});

test("an edit under a claim that ended while its window was offline opens a conflict that names the present holder", async ({
  demo,
  open,
  expectedOnConsole,
}) => {
  // Her window asks for the claim to be renewed, and the browser logs the refusal.
  expectedOnConsole.push(/status of 409/);
  await editUnderEndedClaim(demo, open, async (_, slideId) => {
    const token = await personToken(demo.serverUrl, "ada");
    await callServer(demo.serverUrl, token, "DELETE", `/v1/models/slide/${slideId}/claim`);
  });
});
