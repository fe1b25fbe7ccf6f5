import { createClientOn } from "@holdfast/sdk/platform";
import { expect, test } from "vitest";
import { closingSocket } from "../../packages/sdk/src/node/closing-socket.ts";
import { BrowserProfile } from "../../packages/sdk/src/testing/browser-profile.ts";
import { until } from "../../scripts/testing/until.ts";
import { schema } from "./people.ts";
import { startTenants } from "./tenants.ts";

const LIMIT = 2_048;
const { url, organization, tenant } = await startTenants({ limits: { recordBytes: LIMIT } });
const { token, head } = await tenant(await organization("ours"), true);

test.each([
  ["with a stream", true],
  ["that polls", false],
])(
  "[Q52] [Q70] a real server tells a client %s how large a record can be, its other tabs, and it stays known offline",
  async (_, stream) => {
    const profile = new BrowserProfile();
    const open = (getToken: () => Promise<string>) =>
      createClientOn({ ...profile.platform, WebSocket: closingSocket() }, { schema, url, stream, getToken });
    const refused = (client: ReturnType<typeof open>) =>
      expect(() => client.models.slide.create({ deckId: "d1", title: "x".repeat(LIMIT) })).toThrow(
        expect.objectContaining({
          code: "record_too_large",
          param: "data",
          message: expect.stringMatching(/limit is 2048/),
        }),
      );
    const tabs = [open(token), open(token)] as const;
    await until(() => expect(tabs.map((tab) => tab.status().name)).toEqual(["online", "online"]));
    for (const tab of tabs) {
      refused(tab);
      await tab.models.slide.create({ deckId: "d1", title: "x".repeat(LIMIT / 2) }).receipt;
    }
    const written = await head();
    await Promise.all(tabs.map((tab) => tab.close()));

    const offline = open(() => Promise.reject(new TypeError("Failed to fetch")));
    await offline.ready();
    refused(offline);
    await offline.close();
    expect(await head()).toBe(written);
  },
);
