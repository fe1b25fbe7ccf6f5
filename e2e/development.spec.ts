import { createBoard } from "./support/board.ts";
import { startDevelopmentServer } from "./support/development-server.ts";
import { createDeck, readRecord } from "./support/log.ts";
import { expect, test } from "./support/test.ts";

test("during development Vite serves the board from its sources, with tokens, and without the worker that keeps the page", async ({
  demo,
  context,
}) => {
  const vite = await startDevelopmentServer();
  try {
    const deck = await createDeck(demo, ["One"]);
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    // Registering it would fail here, and leave no trace.
    await page.addInitScript(() => {
      const worker = navigator.serviceWorker;
      const register = worker.register.bind(worker);
      worker.register = (...words) => {
        (window as unknown as { hasRegistered?: boolean }).hasRegistered = true;
        return register(...words);
      };
    });
    await page.goto(`${vite.url}/?person=ada&deck=${deck.id}`);
    const ada = createBoard(page, context);
    await ada.rename(1, "From the sources");
    await ada.isSaved();
    expect(await readRecord(demo, "slide", deck.slideIds[0] ?? "")).toMatchObject({ title: "From the sources" });
    const sources = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
    expect(sources).toContain(`${vite.url}/src/app.tsx`);
    expect(await page.evaluate(() => "hasRegistered" in window)).toBe(false);
    expect(errors).toEqual([]);
  } finally {
    await vite.stop();
  }
});
