import { createDeck } from "./support/log.ts";
import { expect, test } from "./support/test.ts";

test("only the demo's own page gets tokens, each short-lived and for one person", async ({ demo, open }) => {
  const deck = await createDeck(demo, ["One"]);
  const ada = await open("ada", deck.id);
  const session = (person: string) =>
    ada.page.evaluate(async (name) => {
      const answer = await fetch(`/session?person=${name}`);
      return { status: answer.status, ...((await answer.json().catch(() => ({}))) as { token?: string }) };
    }, person);

  for (const person of ["ada", "ben"]) {
    const { token } = await session(person);
    const answer = await fetch(`${demo.serverUrl}/v1/identity`, { headers: { authorization: `Bearer ${token}` } });
    const identity = (await answer.json()) as { expiresAt: string };
    expect(identity).toMatchObject({ participant: person, participantKind: "user" });
    expect(Date.parse(identity.expiresAt)).toBeLessThan(Date.now() + 16 * 60_000);
  }

  const response = await fetch(`${demo.pageUrl}/session?person=ada`);
  expect(response.status).toBe(403);
  expect(await response.text()).not.toContain("ek_");
});
