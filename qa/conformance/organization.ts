import type { ModelSchema } from "@holdfast/sdk/protocol";
import { newMasterKey, type RunningServer, startServer } from "@holdfast/server";
import { freshDatabase } from "@holdfast/server/testing";
import { afterAll, expect } from "vitest";
import { ownModels } from "../../packages/conformance/src/environment/models.ts";
import { createAsk } from "../../packages/conformance/src/transport/ask.ts";
import { anotherDatabase } from "../../packages/server/src/testing/another-database.ts";
import { referenceSchema } from "../../packages/server/src/testing/reference-schema.ts";
import { type SourceService, startSourceService } from "../../packages/server/src/testing/source-service.ts";
import { until } from "../../scripts/testing/until.ts";
import { attachModels } from "../support/attached-tables.ts";

export const ADMIN = "admin_token_of_the_conformance_run";

/**
 * A server, on a database of its own or on this one; with `allowPrivate` it sends webhooks to receivers on this machine,
 * otherwise to public addresses only.
 */
export async function start(
  allowPrivate: boolean,
  given?: string,
): Promise<RunningServer & { readonly databaseUrl: string }> {
  const databaseUrl = given ?? (await freshDatabase()).url;
  const masterKeys = [newMasterKey()];
  const server = await startServer({
    ...{ databaseUrl, adminToken: ADMIN, masterKeys, port: 0 },
    ...{ webhooks: { allowPrivate }, datasourcesAllowPrivate: true },
  });
  afterAll(() => server.close());
  return { ...server, databaseUrl };
}
/** With those of the suite, which would be hosted if the suite added them itself. */
const models = { ...referenceSchema.models, ...(ownModels as ModelSchema["models"]) };

/**
 * An organization with the reference models in both of its environments, as its operator would make it: hosted, with
 * the rows of each model in a table of its own, which may say whether they are archived, with all of it in a database of its own, or with the records of each
 * model behind an endpoint.
 */
export async function makeOrganization(
  { url, databaseUrl }: Pick<RunningServer, "url"> & { readonly databaseUrl: string },
  rows: "hosted" | "attached" | "archived by column" | "direct" | "endpoint" = "hosted",
): Promise<{ readonly key: string; readonly otherKey: string }> {
  const { ask, close } = createAsk(url, ADMIN);
  const { body } = await ask("POST", "/v1/organizations", { json: { name: "conformance" } });
  const mint = async (livemode: boolean) => {
    const minted = await ask("POST", "/v1/secret_keys", { json: { organization: body.id, livemode } });
    const token = String(minted.body.token);
    const archived = rows === "archived by column";
    const tenant = { organization: String(body.id), livemode };
    if (rows === "attached" || archived) await attachModels(databaseUrl, tenant, { models }, { archived });
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

/** The services behind endpoints. */
export const services: SourceService[] = [];
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
