import { join } from "node:path";
import { createClient, fileStorage } from "@holdfast/sdk/node";
import { expect, test } from "vitest";
import { giveTime } from "../../scripts/testing/give-time.ts";
import { temporaryFolder } from "../../scripts/testing/temporary-folder.ts";
import { until } from "../../scripts/testing/until.ts";
import { schema } from "./people.ts";
import { startTenants } from "./tenants.ts";

const { url, organization, tenant } = await startTenants();
const folder = temporaryFolder("owner");

const first = await organization("first");
const home = await tenant(first, true);
const others = {
  organization: await tenant(await organization("second"), true),
  environment: await tenant(first, false),
};

test.each(["organization", "environment"] as const)(
  "[D15] on a real server: writes that ann queued in one tenant never reach the other %s",
  async (which) => {
    for (const stream of [true, false]) {
      const file = join(folder, `${which}-${stream}.db`);
      const open = (getToken: () => Promise<string>) =>
        createClient({ schema, url, user: "ann", getToken, stream, storage: fileStorage(file) });
      const ann = open(home.token);
      await ann.ready();
      await ann.models.slide.create({ deckId: "d1", title: "home" }).receipt;
      ann.pause();
      await ann.models.slide.create({ deckId: "d1", title: "secret" }).queued;
      await ann.close();

      const elsewhere = open(others[which].token);
      await until(() => expect(elsewhere.status().name).toBe("needs-auth"));
      expect(elsewhere.status().reason).toContain(`this store belongs to ${first}/live/user/ann`);
      expect(elsewhere.models.slide.list()).toEqual([]);
      expect(elsewhere.pending()).toEqual([]);
      expect(() => elsewhere.models.slide.create({ deckId: "d1", title: "x" })).toThrow(/belongs to/);
      await giveTime(500);
      await elsewhere.close();
      expect(await others[which].head()).toBe(0);

      const before = await home.head();
      const back = open(home.token);
      await until(async () => expect(await home.head()).toBe(before + 1));
      await back.close();
    }
  },
);
