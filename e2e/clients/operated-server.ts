import { newMasterKey, type ServerOptions, startServer } from "@holdfast/server";
import { freshDatabase } from "@holdfast/server/testing";
import { afterAll } from "vitest";
import { askJson } from "../../scripts/testing/ask-json.ts";

export const ADMIN = "admin_token_of_the_clients_tests";

/** The real server on a database of its own, until the end of the file. */
export async function startOperatedServer(options: Partial<ServerOptions> = {}) {
  const { url: databaseUrl } = await freshDatabase();
  const own = { databaseUrl, adminToken: ADMIN, masterKeys: [newMasterKey()], port: 0 };
  const server = await startServer({ ...own, ...options });
  // Registered after the database's own hook, so it runs before it.
  afterAll(() => server.close());
  return { url: server.url, databaseUrl, ...operatorOf(server.url) };
}

/** What an operator does there. */
export function operatorOf(url: string) {
  /** As the operator, unless told otherwise. */
  const request = (method: string, path: string, body?: unknown, token = ADMIN) =>
    askJson(url + path, token, method, body);
  const organization = async (name: string) => String((await request("POST", "/v1/organizations", { name })).id);
  const secretKey = async (of: string, livemode = true) =>
    String((await request("POST", "/v1/secret_keys", { organization: of, livemode })).token);
  return { request, organization, secretKey };
}
