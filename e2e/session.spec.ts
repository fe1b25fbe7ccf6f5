import { createDeck } from "./support/log.ts";
import { expect, test } from "./support/test.ts";

test("keys are given to the demo's own page, each person one of their own, and to nobody else", async ({
  demo,
  open,
}) => {
  const deck = await createDeck(demo, ["One"]);
  const ada = await open("ada", deck.id);
  const session = (person: string) =>
    ada.page.evaluate(async (name) => {
      const answer = await fetch(`/session?person=${name}`);
      return { status: answer.status, ...((await answer.json().catch(() => ({}))) as { token?: string }) };
    }, person);

  const [first, again, other] = [await session("ada"), await session("ada"), await session("ben")];
  expect(first.token).toMatch(/^sk_/);
  expect(again.token).toBe(first.token);
  expect(other.token).not.toBe(first.token);

  const stranger = await fetch(`${demo.pageUrl}/session?person=ada`);
  expect(stranger.status).toBe(403);
  expect(await stranger.text()).not.toContain("sk_");
});
