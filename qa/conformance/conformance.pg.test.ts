import { readFileSync } from "node:fs";
import { newMasterKey, newSecretToken, type RunningServer, startServer } from "@holdfast/server";
import { freshDatabase } from "@holdfast/server/testing";
import { afterAll, expect, test } from "vitest";
import { ownModels } from "../../packages/conformance/src/environment/models.ts";
import { loadSections } from "../../packages/conformance/src/run/load-sections.ts";
import { createAsk } from "../../packages/conformance/src/transport/ask.ts";
import { anotherDatabase } from "../../packages/server/src/testing/another-database.ts";
import { type SourceService, startSourceService } from "../../packages/server/src/testing/source-service.ts";
import { until } from "../../scripts/testing/until.ts";
import { attachModels } from "../support/attached-tables.ts";
import { failureOf, runSections, titleOf } from "./run-sections.ts";
import { waiting } from "./waiting.ts";

const ADMIN = "admin_token_of_the_conformance_run";

async function start(allowPrivate: boolean): Promise<RunningServer & { readonly databaseUrl: string }> {
  const { url: databaseUrl } = await freshDatabase();
  const masterKeys = [newMasterKey()];
  const server = await startServer({
    ...{ databaseUrl, adminToken: ADMIN, masterKeys, port: 0 },
    ...{ webhooks: { allowPrivate }, datasourcesAllowPrivate: true },
  });
  afterAll(() => server.close());
  return { ...server, databaseUrl };
}
/** Sends webhooks to receivers on this machine. */
const server = await start(true);
/** Sends them to public addresses only. */
const strict = await start(false);

const { models: referenceModels } = JSON.parse(
  readFileSync(new URL("../../packages/server/reference-schema.json", import.meta.url), "utf8"),
);
/** With those of the suite, which would be hosted if the suite added them itself. */
const models = { ...referenceModels, ...ownModels };

/**
 * An organization with the reference models in both of its environments, as its operator would make it: hosted, with
 * the rows of each model in a table of its own, with all of it in a database of its own, or with the records of each
 * model behind an endpoint.
 */
async function makeOrganization(
  { url, databaseUrl }: Pick<RunningServer, "url"> & { readonly databaseUrl: string },
  rows: "hosted" | "attached" | "direct" | "endpoint" = "hosted",
): Promise<{ readonly key: string; readonly otherKey: string }> {
  const { ask, close } = createAsk(url, ADMIN);
  const { body } = await ask("POST", "/v1/organizations", { json: { name: "conformance" } });
  const mint = async (livemode: boolean) => {
    const minted = await ask("POST", "/v1/secret_keys", { json: { organization: body.id, livemode } });
    const token = String(minted.body.token);
    if (rows === "attached") await attachModels(databaseUrl, { organization: String(body.id), livemode }, { models });
    else {
      const json = { models: rows === "endpoint" ? await behindEndpoint(url, token) : models };
      expect((await ask("POST", "/v1/schema", { token, json })).status).toBe(201);
    }
    if (rows === "direct") await moveAway(url, databaseUrl, token);
    return token;
  };
  const keys = { key: await mint(true), otherKey: await mint(false) };
  close();
  return keys;
}

/** Moves a tenant into another database, as its owner would. */
async function moveAway(url: string, databaseUrl: string, token: string): Promise<void> {
  const { connectionString } = await anotherDatabase({ databaseUrl });
  const { ask, close } = createAsk(url, token);
  const json = { connection: "direct", connectionString };
  const { status, body } = await ask("POST", "/v1/datasources", { json });
  expect(status, JSON.stringify(body)).toBe(201);
  await until(async () => expect(await (await ask("GET", `/v1/datasources/${body.id}`)).body.status).toBe("active"));
  close();
}

const services: SourceService[] = [];
afterAll(() => Promise.all(services.map((service) => service.close())));

/** The models with the records of all of them at a service of the tenant's. */
async function behindEndpoint(url: string, token: string): Promise<Readonly<Record<string, object>>> {
  const { ask, close } = createAsk(url, token);
  const service = await startSourceService();
  services.push(service);
  const json = { connection: "endpoint", endpoint: service.url, signingKey: service.signingKey };
  const { status, body } = await ask("POST", "/v1/datasources", { json });
  expect([status, body.status]).toEqual([201, "active"]);
  close();
  return Object.fromEntries(
    Object.entries<object>(models).map(([name, model]) => [name, { ...model, source: body.id }]),
  );
}

test("[X1] our server passes the conformance suite", { timeout: 900_000 }, async () => {
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

/** What cannot be in tables: a `timestamptz` is a point in time, of any zone and from the year 1 on, and no text. */
const OF_TIMESTAMPS = [
  "values: The datetime 2024-02-29T23:59:59Z comes back unchanged.",
  "values: The datetime 2024-01-01T00:00:00.123456+05:30 comes back unchanged.",
  "values: The datetime 1999-12-31T23:59:59.9-11:00 comes back unchanged.",
  "lists: [G3] [G4] order_by=at sorts date-times as instants, in both directions, over pages, ties by id.",
];

test("[X1] [DS6] it passes with the rows of all models in tables of the caller's", { timeout: 900_000 }, async () => {
  const results = await runSections({
    ...{ url: server.url, adminToken: ADMIN },
    ...(await makeOrganization(server, "attached")),
  });
  expect(results.length).toBeGreaterThan(500);
  const failed = results.filter(({ outcome }) => outcome === "failed");
  expect(failed.filter((result) => !OF_TIMESTAMPS.includes(titleOf(result))).map(failureOf)).toEqual([]);
  expect(failed.map(titleOf).sort()).toEqual([...OF_TIMESTAMPS].sort());
});

test("[X1] [DS21] it passes with the tenants in databases of their own", { timeout: 900_000 }, async () => {
  const results = await runSections({
    ...{ url: server.url, adminToken: ADMIN },
    ...(await makeOrganization(server, "direct")),
  });
  expect(results.length).toBeGreaterThan(500);
  expect(results.filter(({ outcome }) => outcome === "failed").map(failureOf)).toEqual([]);
});

test("[X1] [DS29] it passes with the records of all models behind an endpoint", { timeout: 900_000 }, async () => {
  const results = await runSections({
    ...{ url: server.url, adminToken: ADMIN },
    ...(await makeOrganization(server, "endpoint")),
  });
  expect(results.length).toBeGreaterThan(500);
  expect(results.filter(({ outcome }) => outcome === "failed").map(failureOf)).toEqual([]);
  expect(services.reduce((sum, { done }) => sum + done.length, 0)).toBeGreaterThan(500);
});

test("[X3] a server that cannot be tested is distinguished from one that fails", async () => {
  const run = (target: { url?: string; key?: string }) =>
    runSections({ url: server.url, key: newSecretToken(true), ...target }, { sections: ["ids"] });
  await expect(run({ url: "http://127.0.0.1:1" })).rejects.toThrow("No server of this interface answers at");
  await expect(run({})).rejects.toThrow("The server does not accept --key (apikey_invalid).");
  await expect(run({ key: ADMIN })).rejects.toThrow("--key takes a secret key");
});
