import { expect, test } from "vitest";
import { giveTime } from "../../scripts/testing/give-time.ts";
import { until } from "../../scripts/testing/until.ts";
import { ADMIN } from "../conformance/organization.ts";
import { claimIn, startTenant } from "./testing/tenant.ts";

const { ask, make, claim, agent, lineOf, organization } = await startTenant();

/** Leases and lines are looked after once a second. */
const LOOKED_AFTER_MS = 1_500;

test("[A15] an unauthorized attempt to revoke a token does not end its claims", async () => {
  const ann = await agent("ann");
  await make("kept");
  const held = claimIn(await claim(ann.token, "kept"));
  const other = await startTenant();
  for (const refused of [
    await ask("DELETE", `/v1/ephemeral_keys/${ann.id}`),
    await other.ask("DELETE", `/v1/capabilities/${ann.id}`),
    await ask("DELETE", `/v1/capabilities/${ann.id}`, { token: ann.token }),
  ])
    expect(refused.status).toBeGreaterThanOrEqual(403);
  await giveTime(LOOKED_AFTER_MS);
  expect((await lineOf("kept")).claims).toMatchObject([{ id: held.id, status: "active" }]);
});

test("[A15] a claim ends when its key does, also when the key is revoked again for later", async () => {
  const operator = { token: ADMIN };
  const { body } = await ask("POST", "/v1/secret_keys", { ...operator, json: { organization, livemode: true } });
  await make("twice");
  expect((await claim(String(body.token), "twice")).status).toBe(201);
  for (const graceSeconds of [1, 600]) {
    const revoked = await ask("DELETE", `/v1/secret_keys/${body.id}`, { ...operator, json: { graceSeconds } });
    expect(revoked.status).toBe(200);
  }
  await until(async () => expect((await lineOf("twice")).claims).toEqual([]));
});
