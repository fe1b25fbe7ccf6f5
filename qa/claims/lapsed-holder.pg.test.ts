import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { claimIn, startTenant } from "./testing/tenant.ts";

const HOLDER = fileURLToPath(new URL("./testing/holder.ts", import.meta.url));
const tenant = await startTenant();
const { ask, make, claim, agent, log } = tenant;

const TTL_MS = 1_000;

async function startHolder(token: string, record: string) {
  const child = fork(HOLDER, [tenant.servers[0].url, token, record, String(TTL_MS)], {
    execArgv: ["--conditions=holdfast-source", "--import", "tsx"],
  });
  const next = async () => (await once(child, "message"))[0] as { status: number; body: Record<string, unknown> };
  return { child, next, claimed: await next() };
}

test("[A11] a write by a holder that was suspended past its lease is refused with the reason, and changes nothing", async () => {
  const [ann, bob] = [await agent("ann"), await agent("bob")];
  await make("paused");
  const { child, next, claimed } = await startHolder(ann.token, "paused");
  try {
    expect(claimed.status).toBe(201);
    child.kill("SIGSTOP");
    child.send("write");
    const taken = await until(async () => {
      const answer = await claim(bob.token, "paused", { ttl: "1h" });
      expect(answer.status).toBe(201);
      return claimIn(answer);
    });
    expect(taken.fence).toBeGreaterThan(Number(claimed.body.fence));
    const theirs = await ask("PATCH", "/v1/models/slide/paused", {
      token: bob.token,
      json: { data: { title: "bob's" }, claim: taken.id },
    });
    expect(theirs.status).toBe(200);
    child.kill("SIGCONT");
    const late = await next();
    expect(late.status).toBe(409);
    expect(late.body.code).toBe("claim_lost");
    expect(late.body.claims).toEqual([expect.objectContaining({ id: taken.id, actor: "bob" })]);
  } finally {
    child.kill("SIGKILL");
  }
  const entries = (await log()).filter(({ id, verb }) => id === "paused" && verb === "updated");
  expect(entries.map(({ actor, data }) => [actor, data?.title])).toEqual([["bob", "bob's"]]);
});

test("[A11] [A30] a write under an expired lease is refused even if the record is free", async () => {
  const ann = await agent("ann");
  await make("alone");
  const { id } = claimIn(await claim(ann.token, "alone", { ttl: TTL_MS }));
  await until(async () => expect((await tenant.lineOf("alone")).claims).toEqual([]));
  const json = { data: { title: "late" } };
  const named = await ask("PATCH", "/v1/models/slide/alone", { token: ann.token, json: { ...json, claim: id } });
  expect(named.status).toBe(409);
  expect(named.body.code).toBe("claim_lost");
  expect(named.body.claims).toEqual([]);
  // Without naming it, it is a write like others.
  expect((await ask("PATCH", "/v1/models/slide/alone", { token: ann.token, json })).status).toBe(200);
});

test("[A11] if one operation of a batch meets a claim, nothing is applied and the error names it; a claim conflict precedes staleness", async () => {
  const [ann, bob] = [await agent("ann"), await agent("bob")];
  await make("held");
  const { id: claimId } = claimIn(await claim(ann.token, "held"));
  const create = (i: number) => ({ action: "create", model: "slide", id: `batch${i}`, data: { title: `${i}` } });
  const held = { action: "update", model: "slide", id: "held", data: { title: "bob's" }, readAt: 0, onStale: "notify" };
  const before = (await log()).length;
  for (const [operation, code, param] of [
    [held, "claim_conflict", "operations[6]"],
    [{ ...held, claim: claimId }, "claim_lost", "operations[6].claim"],
  ] as const) {
    const operations = [0, 1, 2, 3, 4, 5].map(create).concat([operation as never], [7, 8, 9].map(create));
    const refused = await ask("POST", "/v1/commits", { token: bob.token, json: { operations } });
    expect(refused.status).toBe(409);
    expect(refused.body.code).toEqual(code);
    expect(refused.body.param).toEqual(param);
    expect(refused.body.claims).toMatchObject([{ id: claimId }]);
    const bulk = await ask("POST", "/v1/commits/bulk", {
      token: bob.token,
      json: {
        commits: [
          { clientTxId: `b-${code}`, operations },
          { clientTxId: `c-${code}`, operations: [create(code === "claim_lost" ? 11 : 10)] },
        ],
      },
    });
    expect(bulk.body.data).toMatchObject([{ httpStatus: 409, code, claims: [{ id: claimId }] }, { httpStatus: 200 }]);
  }
  expect((await log()).slice(before).map(({ id }) => id)).toEqual(["batch10", "batch11"]);
});

test("[A4] a claim on a missing record, an unknown model, or another organization's record is 404 and claims nothing", async () => {
  const ann = await agent("ann");
  const other = await startTenant();
  await make("ours");
  await other.make("theirs");
  const stranger = await other.agent("stranger");
  const far = (await other.ask("POST", "/v1/models/slide/theirs/claim", { token: stranger.token })).body;
  for (const [answer, code] of [
    [await claim(ann.token, "missing"), "record_not_found"],
    [await claim(ann.token, "theirs"), "record_not_found"],
    [await ask("POST", "/v1/models/nothing/ours/claim"), "unknown_model"],
    [await ask("GET", `/v1/claims/${far.id}`), "claim_not_found"],
    [await ask("POST", `/v1/claims/${far.id}/renew`), "claim_not_found"],
    [await ask("DELETE", `/v1/claims/${far.id}`), "claim_not_found"],
  ] as const)
    expect([answer.status, answer.body.code]).toEqual([404, code]);
  expect((await other.lineOf("theirs")).claims).toMatchObject([{ id: far.id, status: "active" }]);
});
