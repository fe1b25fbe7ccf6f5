import { createDeck, entriesOf } from "./support/log.ts";
import { callThatWrites } from "./support/sent-writes.ts";
import { expect, test } from "./support/test.ts";

test("edits made offline are shown, survive a reload, and are sent once", async ({ demo, openBoth }) => {
  const { deck, ada, ben } = await openBoth(["One", "Two"]);

  await ada.workOffline();
  await ada.rename(1, "Written on a train");
  await expect(ada.card(1)).toContainText("Waiting to be sent");
  await expect(ada.page.locator(".sync-line")).toContainText("1 change");

  await ada.page.reload();
  await expect(ada.status("Working offline")).toBeVisible();
  await expect(ada.title(1)).toHaveValue("Written on a train");
  await expect(ada.card(1)).toContainText("Waiting to be sent");
  await ben.rename(2, "Meanwhile");
  await expect(ada.title(2)).toHaveValue("Two");

  await ada.comeBack();
  await ada.isSaved();
  await ben.shows(["Written on a train", "Meanwhile"]);
  await ada.shows(["Written on a train", "Meanwhile"]);
  const updates = (await entriesOf(demo, deck.slideIds[0] ?? "")).filter((entry) => entry.verb === "updated");
  expect(updates).toHaveLength(1);
});

test("nothing is lost if the network fails under an open socket", async ({ demo, expectedOnConsole, openBoth }) => {
  expectedOnConsole.push(/ERR_INTERNET_DISCONNECTED/);
  const { deck, ada, ben } = await openBoth(["One", "Two"]);

  // The browser keeps the socket open, half of it: nothing comes, nothing is reported closed.
  await ada.context.setOffline(true);
  await expect(ada.status("No connection")).toBeVisible();
  await ada.rename(1, "In a tunnel");
  await ben.rename(2, "Above ground");
  await ben.isSaved();
  await expect(ada.card(1)).toContainText("Waiting to be sent");
  await expect(ada.title(2)).toHaveValue("Two");

  await ada.context.setOffline(false);
  await ada.isSaved();
  await ada.shows(["In a tunnel", "Above ground"]);
  await ben.shows(["In a tunnel", "Above ground"]);
  const updates = (await entriesOf(demo, deck.slideIds[0] ?? "")).filter((entry) => entry.verb === "updated");
  expect(updates).toHaveLength(1);
});

test("[Y1] the page can be reloaded and edited without a network, and sends its writes when the network is back", async ({
  demo,
  open,
  expectedOnConsole,
}) => {
  expectedOnConsole.push(/ERR_INTERNET_DISCONNECTED/);
  const deck = await createDeck(demo, ["One", "Two"]);
  const ada = await open("ada", deck.id);
  await ada.page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  await ada.context.setOffline(true);
  await ada.page.reload();
  await ada.shows(["One", "Two"]);
  await ada.rename(1, "Loaded in a tunnel");
  await expect(ada.card(1)).toContainText("Waiting to be sent");

  await ada.context.setOffline(false);
  // A page that was loaded offline gets no event when Playwright goes online, so the test focuses the window.
  await ada.page.evaluate(() => void dispatchEvent(new Event("focus")));
  await ada.isSaved();
  expect((await entriesOf(demo, deck.slideIds[0] ?? "")).map(({ verb }) => verb)).toEqual(["created", "updated"]);
});

test("[N3] the client notices a socket that is silent without closing, and loses nothing", async ({ demo, open }) => {
  const deck = await createDeck(demo, ["One", "Two"]);
  const sockets: { isSilent: boolean }[] = [];
  const lost: string[] = [];
  const ada = await open("ada", deck.id, {
    prepare: async (page) => {
      await page.clock.install();
      await page.routeWebSocket(/\/v1\/stream/, (socket) => {
        const line = { isSilent: false };
        sockets.push(line);
        const server = socket.connectToServer();
        socket.onMessage((message) => (line.isSilent ? lost.push(String(message)) : server.send(message)));
        server.onMessage((message) => line.isSilent || socket.send(message));
      });
    },
  });
  const ben = await open("ben", deck.id);
  for (const line of sockets) line.isSilent = true;
  await ben.rename(2, "Not heard of");
  await ben.isSaved();
  await ada.rename(1, "Sent all the same");
  const calls = () => lost.filter((frame) => callThatWrites(frame) !== undefined);
  await expect.poll(calls).toHaveLength(1);
  await expect(ada.title(2)).toHaveValue("Two");

  // It waits for the answer for 2 s, then for that of a ping for 5 s. A silent socket without calls is pinged after 20 s.
  await ada.page.clock.runFor(10_000);
  await expect(ben.title(1)).toHaveValue("Sent all the same");
  await ada.isSaved();
  await ada.shows(["Sent all the same", "Not heard of"]);
  await expect.poll(() => sockets.length).toBeGreaterThan(1);
});
