import type { Claim, ClaimList } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { ensureConfiguredKey } from "../../kernel/tokens/flows/ensure-configured-key.ts";
import { newSecretToken } from "../../kernel/tokens/flows/secret-keys.ts";
import { ADMIN, type Answer, referenceSchema, startApp } from "../../testing/app.ts";
import { untilBlocked } from "../../testing/waiting/blocked.ts";
import { countReceived, metricOf } from "../../testing/waiting/metrics.ts";
import { builtInHooks } from "../open-modules.ts";

// How claims end other than by expiry or release, and what watchers are sent.

// A round waits for a held head as long as it may, instead of being set aside after a moment.
const app = await startApp({ metricsLoopback: true, database: { lockMs: 4_500 } });
const { call, sql } = app;
const slides = "/v1/models/slide";

const capability = (participantId: string, syncGroups = [`org:${app.organization}`]) =>
  app.capability({ operations: ["slide.*"], syncGroups, participantId });
const make = (id: string, data: object = {}) => call("POST", slides, { json: { id, data: { title: "a", ...data } } });
const claim = (token: string, id: string, json: object = {}) => call("POST", `${slides}/${id}/claim`, { token, json });
const claimOf = ({ body }: Answer) => body as unknown as Claim;
const holdersOf = async (id: string) =>
  ((await call("GET", `/v1/claims?model=slide&id=${id}`)).body as unknown as ClaimList).claims;
const ann = (await capability("ann")).token;

test("[A15] a configured key that another one replaces takes its claims with it", async () => {
  const pool = app.pool(2);
  const [old, next] = [newSecretToken(true), newSecretToken(true)];
  await ensureConfiguredKey(pool, builtInHooks.tokensEnded, old);
  await call("POST", "/v1/schema", { token: old, json: { models: referenceSchema.models } });
  await call("POST", slides, { token: old, json: { id: "c1", data: {} } });
  const held = claimOf(await claim(old, "c1", { ttl: "1h" }));
  await ensureConfiguredKey(pool, builtInHooks.tokensEnded, next);
  await until(
    async () => (await call("GET", "/v1/claims?model=slide&id=c1", { token: next })).body.claims?.toString() === "",
  );
  const statusOf = () => sql<{ status: string }>("select status from holdfast.claim where id = $1", [held.id]);
  await until(async () => (await statusOf())[0]?.status === "canceled");
});

test("[A15] a secret key's grace is its claims' grace, whenever in it they were made, and is never made longer", async () => {
  const key = await app.newKey();
  await make("g1");
  await make("g2");
  const revoke = (graceSeconds: number) =>
    call("DELETE", `/v1/secret_keys/${key.id}?`, { token: ADMIN, json: { graceSeconds } });
  await claim(key.token, "g1", { ttl: "1h" });
  await revoke(2);
  expect((await claim(key.token, "g2", { ttl: "1h" })).status).toBe(201);
  await revoke(3_600);
  expect([await holdersOf("g1"), await holdersOf("g2")]).toMatchObject([[{}], [{}]]);
  await until(async () => (await holdersOf("g1")).length + (await holdersOf("g2")).length === 0);
});

test("[A15] a claim ends when the token that last renewed it is revoked", async () => {
  await make("r1");
  const [first, second] = [await capability("worker"), await capability("worker")];
  const held = claimOf(await claim(first.token, "r1", { ttl: "1h" }));
  expect((await call("POST", `/v1/claims/${held.id}/renew`, { token: second.token })).status).toBe(200);
  await call("DELETE", `/v1/capabilities/${first.id}`);
  expect(await holdersOf("r1")).toMatchObject([{ id: held.id }]);
  await call("DELETE", `/v1/capabilities/${second.id}`);
  await until(async () => (await holdersOf("r1")).length === 0);
});

test("[A8] a deadlock is detected even if the requests that close it are in one round", async () => {
  for (const id of ["o1", "o2"]) await make(id);
  const bob = (await capability("bob")).token;
  await claim(ann, "o2");
  expect((await claim(bob, "o2", { queue: true })).status).toBe(202);
  const { tenant } = (
    await sql<{ tenant: number }>("select tenant from holdfast.claim where record = 'o2' limit 1")
  )[0]!;
  // Both come while a round waits for the head, and share the one after it.
  const held = await app.hold(`select 1 from holdfast.head where tenant = ${tenant} for update`);
  const first = make("o3");
  await untilBlocked(app);
  const granted = claim(bob, "o1");
  await until(async () => expect(await metricOf(call, "holdfast_commits_waiting")).toBe(1));
  const received = await countReceived(call);
  const circle = claim(ann, "o1", { queue: true });
  await received.reaches(1);
  await held.release();
  await first;
  expect((await granted).status).toBe(201);
  expect((await circle).body).toMatchObject({ code: "claim_deadlock" });
});

test("[A15] a claim is not granted to a token that was revoked on another server, however lately", async () => {
  const second = await app.another();
  const rest = { json: { ttl: "1h" } };
  for (let round = 0; round < 12; round++) {
    const id = `late${round}`;
    await make(id);
    const { id: tokenId, token } = await capability(`late${round}`);
    // Both servers know the token now, and remember it for a while.
    expect((await second.call("GET", "/v1/identity", { token })).status).toBe(200);
    const [revoked, asked] = await Promise.all([
      call("DELETE", `/v1/capabilities/${tokenId}`),
      second.call("POST", `${slides}/${id}/claim`, { ...rest, token }),
    ]);
    expect(revoked.status).toBe(200);
    expect([201, 401]).toContain(asked.status);
    expect((await second.call("POST", `${slides}/${id}/claim`, { ...rest, token })).body.code).toBe("token_revoked");
    await until(async () => (await holdersOf(id)).length === 0);
  }
});
