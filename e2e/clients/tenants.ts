import { newMasterKey, startServer } from "@holdfast/server";
import { freshDatabase } from "@holdfast/server/testing";
import { afterAll } from "vitest";
import { schema } from "./people.ts";

const ADMIN = "admin_token_of_the_owner_tests";

/** The real server, and a function that makes a tenant of it. */
export async function startTenants() {
  const { url: databaseUrl } = await freshDatabase();
  const server = await startServer({ databaseUrl, adminToken: ADMIN, masterKeys: [newMasterKey()], port: 0 });
  afterAll(() => server.close());

  async function request(method: string, path: string, body: unknown, token: string): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(server.url + path, { method, headers, ...sent });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  }

  return {
    url: server.url,
    organization: async (name: string) => String((await request("POST", "/v1/organizations", { name }, ADMIN)).id),
    async tenant(organization: string, livemode: boolean) {
      const { token: key } = await request("POST", "/v1/secret_keys", { organization, livemode }, ADMIN);
      await request("POST", "/v1/schema", schema, String(key));
      const token = async (ttlSeconds = 600): Promise<string> => {
        const body = { user: { id: "ann" }, syncGroups: ["deck:d1"], ttlSeconds };
        return String((await request("POST", "/v1/ephemeral_keys", body, String(key))).token);
      };
      const head = async () => Number((await request("GET", "/v1/log?limit=1", undefined, String(key))).stamp);
      return { token, head };
    },
  };
}
