import { createClient } from "@holdfast/sdk/node";
import { expect, test, vi } from "vitest";
import { giveTime } from "../../scripts/testing/give-time.ts";
import { until } from "../../scripts/testing/until.ts";
import { schema } from "./people.ts";
import { startTenants } from "./tenants.ts";

const { url, organization, tenant } = await startTenants();
const home = await tenant(await organization("first"), true);

test("[N16] on a real server: a token that lives 30 s is renewed repeatedly, unnoticed by the app", async () => {
  let tokenRequests = 0;
  const getToken = () => {
    tokenRequests += 1;
    return home.token(30);
  };
  const warned = vi.spyOn(console, "warn");
  const client = createClient({ schema, url, getToken });
  await client.ready();
  await until(() => expect(client.status().name).toBe("online"));
  const names = new Set<string>();
  const off = client.subscribe(() => void names.add(client.status().name));
  const made = client.models.slide.create({ deckId: "d1", title: "claimed" });
  await made.receipt;
  const lease = await client.models.slide.claim(made.id);
  const stop = client.claims.watch("slide", [lease.recordId]);
  await until(() => expect(client.claims.of("slide", lease.recordId).state).toBe("known"));
  const states = new Set<string>();
  const offClaims = client.subscribe(() => void states.add(client.claims.of("slide", lease.recordId).state));
  for (let i = 0; tokenRequests < 3; i++) {
    await client.models.slide.update(lease.recordId, { order: i }).receipt;
    await giveTime(500);
  }
  // The third token has been in use for a while.
  for (let i = 0; i < 4; i++) {
    await client.models.slide.update(lease.recordId, { order: -i }).receipt;
    await giveTime(500);
  }
  expect([...names]).toEqual(["online"]);
  expect([...states]).toEqual(["known"]);
  expect(warned.mock.calls).toEqual([]);
  for (const end of [off, offClaims, stop]) end();
  warned.mockRestore();
  await client.close();
});
