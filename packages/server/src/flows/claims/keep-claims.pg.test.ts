import type { Claim, ClaimList } from "@holdfast/sdk/protocol";
import { afterEach, expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { startApp } from "../../testing/app.ts";

const app = await startApp();
const { call, keys, sql } = app;
const slides = "/v1/models/slide";

const agent = async (name: string, token = keys.live) =>
  String(
    (await call("POST", "/v1/capabilities", { token, json: { wideScope: true, participantId: name } })).body.token,
  );
const make = (id: string, token = keys.live) => call("POST", slides, { token, json: { id, data: {} } });
const claim = async (token: string, id: string, json: object = {}) =>
  (await call("POST", `${slides}/${id}/claim`, { token, json: { queue: true, ...json } })).body as unknown as Claim;
const lineOf = async (id: string, token = keys.live) =>
  (await call("GET", `/v1/claims?model=slide&id=${id}`, { token })).body as unknown as ClaimList;
const statusOf = async ({ id }: Claim) =>
  (await sql<{ status: string }>("select status from holdfast.claim where id = $1", [id]))[0]?.status;
const silence = (...claims: Claim[]) =>
  sql("update holdfast.claim set seen_at = seen_at - interval '31 s' where id = any($1::text[])", [
    claims.map(({ id }) => id),
  ]);
const tenantOf = async (record: string) =>
  (await sql<{ tenant: number }>("select tenant from holdfast.record where id = $1", [record]))[0]!.tenant;

afterEach(() => sql("delete from holdfast.claim"));

const [ann, bob, eve] = await Promise.all([agent("ann"), agent("bob"), agent("eve")]);

test("[A6] a waiter behind a silent one is granted a free claim without asking again", async () => {
  await make("s1");
  await claim(ann, "s1", { field: "title" });
  const whole = await claim(bob, "s1");
  const part = await claim(eve, "s1", { field: "notes" });
  expect(whole.status).toBe("queued");
  expect(part.status).toBe("queued");
  await silence(whole);
  await until(async () => (await statusOf(part)) === "active");
  expect((await lineOf("s1")).queue).toMatchObject([{ id: whole.id }]);
});

test("[A6] a sign of life that came while the line could not be judged is not lost", async () => {
  await make("s2");
  const held = await claim(ann, "s2");
  const waits = await claim(bob, "s2");
  await silence(waits);
  await call("DELETE", `/v1/claims/${held.id}`, { token: ann });
  expect(await statusOf(waits)).toBe("queued");
  const head = await app.hold(`select 1 from holdfast.head where tenant = ${await tenantOf("s2")} for update`);
  const asked = call("GET", `/v1/claims/${waits.id}`, { token: bob });
  await asked;
  await head.release();
  const again = await call("GET", `/v1/claims/${waits.id}`, { token: bob });
  expect(again.body).toMatchObject({ status: "active" });
});

test("[A5] a tenant whose head is held elsewhere does not keep other tenants' leases waiting", async () => {
  await make("s3");
  await make("t3", keys.test);
  const tess = await agent("tess", keys.test);
  await claim(ann, "s3", { ttl: "1s" });
  await claim(bob, "s3");
  const head = await app.hold(`select 1 from holdfast.head where tenant = ${await tenantOf("s3")} for update`);
  // The keeper has met the lease that it cannot end.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await claim(keys.test, "t3", { ttl: "1s" });
  const next = await claim(tess, "t3");
  const began = Date.now();
  await until(async () => (await statusOf(next)) === "active");
  await head.release();
  expect(Date.now() - began).toBeLessThan(2_500);
});
