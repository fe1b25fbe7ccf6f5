import type { Claim, ClaimList } from "@holdfast/sdk/protocol";
import { afterEach, expect, test } from "vitest";
import { until } from "../../../../../../scripts/testing/until.ts";
import type { CommitLanes } from "../../../kernel/commits/flows/commit-lanes.ts";
import { startApp } from "../../../testing/app.ts";
import { untilBlocked } from "../../../testing/waiting/blocked.ts";
import { keepClaims } from "./keep-claims.ts";

const app = await startApp();
const { call, keys, sql } = app;
const slides = "/v1/models/slide";

const agent = async (participantId: string, key = keys.live) =>
  (await app.capability({ wideScope: true, participantId }, key)).token;
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
  await untilBlocked(app);
  await claim(keys.test, "t3", { ttl: "1s" });
  const next = await claim(tess, "t3");
  await until(async () => (await statusOf(next)) === "active");
  await head.release();
});

test("[A5] the keeper does not wait for a tenant whose order is not answered, and does not ask for it again", async () => {
  await make("s4");
  await make("t4", keys.test);
  const [busy, free] = [await tenantOf("s4"), await tenantOf("t4")];
  await claim(ann, "s4", { ttl: "1h" });
  await claim(keys.test, "t4", { ttl: "1h" });
  // The server's own keeper can end neither lease meanwhile.
  const heads = await app.hold("select 1 from holdfast.head for update");
  const expire = (id: string) =>
    sql("update holdfast.claim set expires_at = now() - interval '1 s' where record = $1", [id]);
  await expire("s4");
  const asked: number[] = [];
  const unanswered = {
    decide({ tenant }: { tenant: number }) {
      asked.push(tenant);
      return new Promise(() => {});
    },
  };
  const pool = app.pool(1);
  const keep = keepClaims(pool, unanswered as unknown as CommitLanes, () => {});
  await keep();
  await expire("t4");
  await keep();
  expect(asked).toEqual([busy, free]);
  await sql("delete from holdfast.claim");
  await heads.release();
});
