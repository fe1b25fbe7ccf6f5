import type { Claim } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { startApp } from "../../../testing/app.ts";
import { connected } from "../../../testing/run-sql.ts";
import type { Transaction } from "../../connection/transaction.ts";
import { readLogEpoch } from "../db/log-epoch.ts";
import { renewLogs } from "./log-epoch.ts";

const app = await startApp();
const { agent, call, sql, databaseUrl } = app;

/** As the command does it. */
const renew = () => renewLogs(app.pool());

test("[O19] [O40] [O20] when a log gets a new id, all claims of its tenant end, and the next fence is greater", async () => {
  const [ann, ben, cem] = await Promise.all(["ann", "ben", "cem"].map(agent));
  const id = "e1";
  await call("POST", "/v1/models/slide", { json: { id, data: { title: "a" } } });
  const claim = (token: string | undefined, json: object = {}) =>
    call("POST", `/v1/models/slide/${id}/claim`, { token: token as string, json });
  const held = (await claim(ann)).body as unknown as Claim;
  const waiting = (await claim(ben, { queue: true })).body as unknown as Claim;
  expect(waiting.status).toBe("queued");
  expect(await renew()).toBeGreaterThan(0);

  const next = await claim(cem);
  expect(next.status).toBe(201);
  expect((next.body as unknown as Claim).fence).toBeGreaterThan(held.fence as number);
  const stateOf = async (token: string | undefined, claim: Claim) =>
    (await call("GET", `/v1/claims/${claim.id}`, { token: token as string })).body.status;
  expect(await stateOf(ann, held)).toBe("canceled");
  expect(await stateOf(ben, waiting)).toBe("canceled");
  const renewal = await call("POST", `/v1/claims/${held.id}/renew`, { token: ann as string });
  expect(renewal.body).toMatchObject({ code: "claim_lost", claims: [{ actor: "cem" }] });
});

test("[O19] [W52] later deliveries name the new log, and a failed delivery is tried at once", async () => {
  const url = "https://receiver.example.com/";
  await call("POST", "/v1/webhook_endpoints", { json: { url, enabledEvents: ["slide"] } });
  await sql("update holdfast.webhook_endpoint set attempt = 3, next_attempt_at = now() + interval '1 hour'");
  const before = await sql<{ revision: number }>("select revision from holdfast.webhook_endpoint");
  await renew();
  const after = await sql<{ revision: number; attempt: number; waits: boolean }>(
    "select revision, attempt, next_attempt_at is not null as waits from holdfast.webhook_endpoint",
  );
  expect(after).toMatchObject([{ attempt: 0, waits: false }]);
  expect(after[0]?.revision).toBeGreaterThan(before[0]?.revision as number);
});

test("[O19] a Postgres that keeps its identity to itself is used without it; any other failure is one", async () => {
  await sql("create role without_identity login password 'x'");
  await sql("grant usage on schema holdfast to without_identity");
  await sql("grant select on holdfast.log_epoch to without_identity");
  await sql("revoke execute on function pg_control_system() from public");
  const url = new URL(databaseUrl);
  url.username = "without_identity";
  url.password = "x";
  const client = await connected(url.href);
  try {
    const known = await readLogEpoch(client as unknown as Transaction);
    expect(known.actual).toBeUndefined();
    expect(known.epoch).toEqual(expect.any(String));
    await sql("revoke select on holdfast.log_epoch from without_identity");
    await expect(readLogEpoch(client as unknown as Transaction)).rejects.toMatchObject({ code: "42501" });
  } finally {
    await client.end();
    await sql("drop owned by without_identity");
    await sql("drop role without_identity");
  }
});

test("[O19] [O35] the place of the logs includes the timeline and the database", async () => {
  await using client = await connected(databaseUrl);
  const { actual } = await readLogEpoch(client as unknown as Transaction);
  expect(actual).toMatch(/^\d+\/[0-9A-F]{8}\/\d+\/\d+$/);
});

const logIds = () => sql<{ log_id: string }>("select log_id from holdfast.head order by tenant");
const origin = async () => (await sql<{ origin: string }>("select origin from holdfast.log_epoch"))[0]?.origin;

test("[O35] rows that were loaded from a dump get the logs new ids, once", async () => {
  const before = await logIds();
  // As pg_restore --data-only does it.
  await sql(
    "with old as (delete from holdfast.log_epoch returning *) select set_config('test.epoch', epoch || ' ' || origin, false) from old",
  );
  await sql(
    "insert into holdfast.log_epoch (epoch, origin) select split_part(e, ' ', 1), split_part(e, ' ', 2) from current_setting('test.epoch') e",
  );
  await app.another();
  const renewed = await logIds();
  expect(renewed).not.toEqual(before);
  await app.another();
  expect(await logIds()).toEqual(renewed);
});

test("[O35] [O41] what an earlier release wrote down stays valid; maintenance renews nothing", async () => {
  const before = await logIds();
  await sql("update holdfast.log_epoch set origin = split_part(origin, '/', 1) || '/' || split_part(origin, '/', 2)");
  await app.another();
  expect(await origin()).toMatch(/^\d+\/[0-9A-F]{8}\/\d+\/\d+$/);
  await sql("vacuum (full, freeze) holdfast.log_epoch");
  await app.another();
  expect(await logIds()).toEqual(before);
});

test("[DS61] [DS151] after a restore, no new tenant gets the number of one that was made after the backup", async () => {
  const { organization } = await app.newOrganization();
  const before = await app.tenantOf(organization);
  await renew();
  const later = await app.newOrganization();
  expect(await app.tenantOf(later.organization)).toBeGreaterThan(before + 10_000);
});
