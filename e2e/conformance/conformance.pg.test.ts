import { readFileSync } from "node:fs";
import { newMasterKey, newSecretToken, startServer } from "@holdfast/server";
import { freshDatabase } from "@holdfast/server/testing";
import { afterAll, expect, test } from "vitest";
import { createAsk } from "./ask.ts";
import { failureOf, runChapters, titleOf } from "./testing/run-chapters.ts";
import { waiting } from "./testing/waiting.ts";

const ADMIN = "admin_token_of_the_conformance_run";
const database = await freshDatabase();
const server = await startServer({
  databaseUrl: database.url,
  adminToken: ADMIN,
  masterKeys: [newMasterKey()],
  port: 0,
});
afterAll(() => server.close());

/** An organisation with the reference models in both of its environments, as its operator would make it. */
async function makeOrganization(): Promise<{ readonly key: string; readonly otherKey: string }> {
  const { ask, close } = createAsk(server.url, ADMIN);
  const { models } = JSON.parse(
    readFileSync(new URL("../../packages/server/reference-schema.json", import.meta.url), "utf8"),
  );
  const { body } = await ask("POST", "/v1/organizations", { json: { name: "conformance" } });
  const mint = async (livemode: boolean) => {
    const minted = await ask("POST", "/v1/secret_keys", { json: { organization: body.id, livemode } });
    const token = String(minted.body.token);
    expect((await ask("POST", "/v1/schema", { token, json: { models } })).status).toBe(201);
    return token;
  };
  const keys = { key: await mint(true), otherKey: await mint(false) };
  close();
  return keys;
}

test("[X1] our server passes the conformance suite", { timeout: 300_000 }, async () => {
  const keys = await makeOrganization();
  const results = await runChapters({ url: server.url, adminToken: ADMIN, ...keys });
  expect(results.length).toBeGreaterThan(500);
  const failed = results.filter(({ outcome }) => outcome === "failed");
  expect(failed.filter((result) => !waiting.includes(titleOf(result))).map(failureOf)).toEqual([]);
  // Nobody waits for what is done.
  const failing = new Set(failed.map(titleOf));
  expect(waiting.filter((title) => !failing.has(title))).toEqual([]);
  // With both keys, the operator's token and the reference models there is nothing that does not apply.
  expect(results.filter(({ outcome }) => outcome === "not_applicable").map(titleOf)).toEqual([]);
});

test("[X3] a server that cannot be tested is told apart from one that fails", async () => {
  const run = (target: { url?: string; key?: string }) =>
    runChapters({ url: server.url, key: newSecretToken(true), ...target }, { chapters: ["ids"] });
  await expect(run({ url: "http://127.0.0.1:1" })).rejects.toThrow("Nothing that can be tested answers at");
  await expect(run({})).rejects.toThrow("The server does not accept --key (apikey_invalid).");
  await expect(run({ key: ADMIN })).rejects.toThrow("--key takes a secret key");
});
