import type { Claim, ClaimList, LogEntry } from "@holdfast/sdk/protocol";
import { freshDatabase } from "@holdfast/server/testing";
import { afterAll } from "vitest";
import type { Answer } from "../../../packages/conformance/src/protocol/answers.ts";
import { createAsk } from "../../../packages/conformance/src/transport/ask.ts";
import { makeOrganization, start } from "../../conformance/organization.ts";

/** Two servers on a database of their own, the functions that ask them, and more for tests of claims. */
export async function startTenant(prepare: (databaseUrl: string) => Promise<void> = async () => {}) {
  const { url: databaseUrl } = await freshDatabase();
  await prepare(databaseUrl);
  const servers = [await start(false, databaseUrl), await start(false, databaseUrl)] as const;
  const { key } = await makeOrganization(servers[0]);
  const [first, second] = [createAsk(servers[0].url, key), createAsk(servers[1].url, key)];
  afterAll(() => {
    first.close();
    second.close();
  });
  const { ask } = first;
  const organization = String((await ask("GET", "/v1/identity")).body.organization);
  return {
    ...{ databaseUrl, organization, servers, ask, askSecond: second.ask },
    async agent(name: string, more: object = {}) {
      const json = { participantId: name, operations: ["slide.*"], syncGroups: [`org:${organization}`], ...more };
      const { body } = await ask("POST", "/v1/capabilities", { json });
      return { id: String(body.id), token: String(body.token) };
    },
    make: async (id: string) => void (await ask("POST", "/v1/models/slide", { json: { id, data: {} } })),
    claim: (token: string, id: string, json: object = {}, where = ask) =>
      where("POST", `/v1/models/slide/${id}/claim`, { token, json }),
    claimOf: async (token: string, id: string) =>
      (await ask("GET", `/v1/claims/${id}`, { token })).body as unknown as Claim,
    lineOf: async (id: string) => (await ask("GET", `/v1/claims?model=slide&id=${id}`)).body as unknown as ClaimList,
    log: async () => (await ask("GET", "/v1/log?limit=1000")).body.data as LogEntry[],
  };
}

export const claimIn = ({ body }: Answer): Claim => body as unknown as Claim;
