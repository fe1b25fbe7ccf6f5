import { startOperatedServer } from "./operated-server.ts";
import { schema } from "./people.ts";

/** The real server, and a function that makes a tenant of it. */
export async function startTenants(options: Parameters<typeof startOperatedServer>[0] = {}) {
  const { url, request, organization, secretKey } = await startOperatedServer(options);
  return {
    url,
    organization,
    async tenant(of: string, livemode: boolean) {
      const key = await secretKey(of, livemode);
      await request("POST", "/v1/schema", schema, key);
      const token = async (ttlSeconds = 600): Promise<string> => {
        const body = { user: { id: "ann" }, syncGroups: ["deck:d1"], ttlSeconds };
        return String((await request("POST", "/v1/ephemeral_keys", body, key)).token);
      };
      const head = async () => Number((await request("GET", "/v1/log?limit=1", undefined, key)).stamp);
      return { token, head };
    },
  };
}
