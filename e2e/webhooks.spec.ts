import type { Page } from "@playwright/test";
import { readMirror } from "../apps/demo/mirror/testing/records.ts";
import { seriousViolations } from "./support/axe.ts";
import type { Demo } from "./support/demo.ts";
import { createDeck, readSnapshot } from "./support/log.ts";
import { expect, test } from "./support/test.ts";

test.use({ withMirror: true });

/** The panel as what a person sees and does there. */
function mirrorOn(page: Page) {
  const panel = page.getByRole("region", { name: "A mirror elsewhere" });
  return {
    panel,
    lag: panel.locator("dd").first(),
    attempts: panel.getByRole("list", { name: "Last attempts" }).getByRole("listitem"),
    press: (name: string) => panel.getByRole("button", { name }).click(),
    isUpToDate: () => expect(panel).toContainText("Up to date"),
  };
}

/** Record by record: the mirror's own database against the server. */
async function expectSame(demo: Demo): Promise<void> {
  const mirrored = readMirror(demo.mirrorFile).records;
  const there = (await readSnapshot(demo)).map(({ model, id, data, syncId, archivedAt }) => ({
    ...{ model, id, data, syncId },
    isArchived: archivedAt !== undefined,
  }));
  const inOrder = <T extends { model: string; id: string }>(records: T[]) =>
    records.sort((one, other) => (`${one.model} ${one.id}` < `${other.model} ${other.id}` ? -1 : 1));
  expect(there.length).toBeGreaterThan(0);
  expect(inOrder(mirrored)).toEqual(inOrder(there));
}

test("a failing mirror falls behind, and catches up with the server when it recovers", async ({ demo, open }) => {
  const deck = await createDeck(demo, ["One", "Two", "Three"]);
  const ada = await open("ada", deck.id);
  const mirror = mirrorOn(ada.page);
  await mirror.isUpToDate();
  await expect(mirror.lag).toHaveText("0 changes");
  await expect(mirror.attempts.first()).toContainText("taken: 200");

  await mirror.press("Make it fail");
  await expect(mirror.panel).toContainText("It fails from the next change on");
  await ada.rename(1, "While it fails");
  await expect(mirror.lag).toHaveText("1 change");
  await expect(mirror.panel).toContainText(/Attempt \d of 8 failed\s*next in \d+\ss/);
  await expect(mirror.attempts.first()).toContainText("not taken: 500");
  await ada.rename(2, "And this");
  await ada.press("Delete “Three”");
  await expect(mirror.lag).toHaveText("3 changes");
  expect(readMirror(demo.mirrorFile).records).toContainEqual(
    expect.objectContaining({ id: deck.slideIds[0], data: expect.objectContaining({ title: "One" }) }),
  );

  await mirror.press("Let it recover");
  await mirror.isUpToDate();
  await expect(mirror.lag).toHaveText("0 changes");
  await ada.isSaved();
  await expectSame(demo);
});

test.describe("with a schedule that ends soon", () => {
  test.use({ schedule: "0,100,100,100,100,100,100,100" });

  test("a disabled mirror receives nothing, and everything when it recovers", async ({ demo, open }) => {
    const deck = await createDeck(demo, ["One", "Two"]);
    const ada = await open("ada", deck.id);
    const mirror = mirrorOn(ada.page);
    await mirror.isUpToDate();
    await mirror.press("Make it fail");
    await expect(mirror.panel).toContainText("It fails from the next change on");
    await ada.rename(1, "No receiver hears of this");
    await expect(mirror.panel).toContainText("Given up after 8 attempts");
    for (const colorScheme of ["light", "dark"] as const) {
      await ada.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      expect(await seriousViolations(ada.page)).toEqual([]);
    }
    await ada.rename(2, "Nor of this");
    await expect(mirror.lag).toHaveText("2 changes");
    await ada.page.reload();
    await expect(mirror.panel).toContainText("Given up after 8 attempts");

    await mirror.press("Let it recover");
    await mirror.isUpToDate();
    await expect(mirror.lag).toHaveText("0 changes");
    await expectSame(demo);
  });
});

test("offline the page claims nothing about the mirror, and responses to it contain no key", async ({ demo, open }) => {
  const deck = await createDeck(demo, ["One"]);
  const ada = await open("ada", deck.id);
  const received: string[] = [];
  ada.page.on("response", async (response) => {
    if (new URL(response.url()).pathname !== "/mirror") return;
    // A response that the page aborted can no longer be read.
    const text = await response.text().catch(() => undefined);
    if (text !== undefined) received.push(text);
  });
  const mirror = mirrorOn(ada.page);
  await mirror.isUpToDate();
  await expect.poll(() => received.length).toBeGreaterThan(1);
  expect(received.join()).not.toMatch(/sk_|whsec_|rk_|ek_/);
  await ada.workOffline();
  await expect(mirror.panel).toContainText("Not known while you are offline");
  await expect(mirror.panel.getByRole("button", { name: "Make it fail" })).toBeDisabled();
  await ada.comeBack();
  await mirror.isUpToDate();
  // Neither other origins nor other pages get one.
  expect((await fetch(`${demo.pageUrl}/mirror`)).status).toBe(403);
  expect((await fetch(`${demo.pageUrl}/mirror/fail`, { method: "POST" })).status).toBe(403);
});
