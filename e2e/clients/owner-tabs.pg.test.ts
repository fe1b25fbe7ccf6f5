import { createClientOn } from "@holdfast/sdk/platform";
import { expect, test } from "vitest";
import { closingSocket } from "../../packages/sdk/src/node/closing-socket.ts";
import { BrowserProfile } from "../../packages/sdk/src/testing/browser-profile.ts";
import { until } from "../../scripts/testing/until.ts";
import { schema } from "./people.ts";
import { startTenants } from "./tenants.ts";

const { url, organization, tenant } = await startTenants();
const first = await organization("first");
const second = await organization("second");
const a = await tenant(first, true);
const b = await tenant(second, true);

test("[D40] [D42] on a real server: tabs of two organizations in one browser profile work at the same time, and offline", async () => {
  const profile = new BrowserProfile();
  const open = (getToken: () => Promise<string>, options = {}) =>
    createClientOn(
      { ...profile.platform, WebSocket: closingSocket() },
      { schema, url, user: "ann", getToken, ...options },
    );
  const tabs = [open(a.token), open(b.token), open(b.token)] as const;
  await until(() => expect(tabs.map((tab) => tab.status().name)).toEqual(["online", "online", "online"]));
  const titles = () => tabs.map((tab) => tab.models.slide.list().map(({ title }) => title));
  await Promise.all(
    tabs.map((tab, i) => tab.models.slide.create({ deckId: "d1", title: i === 0 ? "of A" : `of B, ${i}` }).receipt),
  );
  expect([await a.head(), await b.head()]).toEqual([1, 2]);
  await until(() => expect(titles().map((own) => own.length)).toEqual([1, 2, 2]));
  expect(titles()[0]).toEqual(["of A"]);
  await Promise.all(tabs.map((tab) => tab.close()));

  // The server cannot be reached, so only the named owner says whose page this is.
  const offline = () => Promise.reject(new TypeError("Failed to fetch"));
  const owner = { organization: second, participant: "ann" };
  const named = open(offline, { owner });
  await named.ready();
  expect(named.models.slide.list().length).toBe(2);
  await named.models.slide.create({ deckId: "d1", title: "of B, offline" }).queued;
  await named.close();
  const back = open(b.token);
  await until(async () => expect(await b.head()).toBe(3));
  expect(await a.head()).toBe(1);
  await back.close();
});
