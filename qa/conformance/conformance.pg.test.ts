import { readFileSync } from "node:fs";
import { newMasterKey, newSecretToken, type RunningServer, startServer } from "@holdfast/server";
import { freshDatabase } from "@holdfast/server/testing";
import { afterAll, expect, test } from "vitest";
import { loadSections } from "../../packages/conformance/src/run/load-sections.ts";
import { createAsk } from "../../packages/conformance/src/transport/ask.ts";
import { failureOf, runSections, titleOf } from "./run-sections.ts";
import { waiting } from "./waiting.ts";

const ADMIN = "admin_token_of_the_conformance_run";

async function start(allowPrivate: boolean): Promise<RunningServer> {
  const { url: databaseUrl } = await freshDatabase();
  const masterKeys = [newMasterKey()];
  const server = await startServer({ databaseUrl, adminToken: ADMIN, masterKeys, webhooks: { allowPrivate }, port: 0 });
  afterAll(() => server.close());
  return server;
}
/** Sends webhooks to receivers on this machine. */
const server = await start(true);
/** Sends them to public addresses only. */
const strict = await start(false);

/** An organization with the reference models in both of its environments, as its operator would make it. */
async function makeOrganization({ url }: RunningServer): Promise<{ readonly key: string; readonly otherKey: string }> {
  const { ask, close } = createAsk(url, ADMIN);
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
  const webhookSections = (await loadSections()).map(({ name }) => name).filter((name) => name.startsWith("webhook-"));
  const [results, elsewhere] = await Promise.all([
    runSections({ url: server.url, adminToken: ADMIN, ...(await makeOrganization(server)) }),
    runSections(
      { url: strict.url, adminToken: ADMIN, ...(await makeOrganization(strict)) },
      { sections: webhookSections },
    ),
  ]);
  expect(results.length).toBeGreaterThan(500);
  const failed = results.filter(({ outcome }) => outcome === "failed");
  expect(failed.filter((result) => !waiting.includes(titleOf(result))).map(failureOf)).toEqual([]);
  // Only pending cases are waited for.
  const failing = new Set(failed.map(titleOf));
  expect(waiting.filter((title) => !failing.has(title))).toEqual([]);
  // With both keys, the operator's token and the reference models there is nothing that does not apply, but for
  // addresses of webhooks that only a server refuses that sends nothing to this machine.
  expect(elsewhere.filter(({ outcome }) => outcome === "failed").map(failureOf)).toEqual([]);
  const passed = new Set(elsewhere.filter(({ outcome }) => outcome === "passed").map(titleOf));
  const absent = results.filter(({ outcome }) => outcome === "not_applicable").map(titleOf);
  expect(absent.filter((title) => !passed.has(title))).toEqual([]);
});

test("[X3] a server that cannot be tested is distinguished from one that fails", async () => {
  const run = (target: { url?: string; key?: string }) =>
    runSections({ url: server.url, key: newSecretToken(true), ...target }, { sections: ["ids"] });
  await expect(run({ url: "http://127.0.0.1:1" })).rejects.toThrow("No server of this interface answers at");
  await expect(run({})).rejects.toThrow("The server does not accept --key (apikey_invalid).");
  await expect(run({ key: ADMIN })).rejects.toThrow("--key takes a secret key");
});
