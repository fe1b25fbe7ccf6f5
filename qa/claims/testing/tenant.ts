import { readFileSync } from "node:fs";
import type { Claim, ClaimList, LogEntry } from "@holdfast/sdk/protocol";
import { newMasterKey, type RunningServer, startServer } from "@holdfast/server";
import { freshDatabase } from "@holdfast/server/testing";
import { afterAll } from "vitest";
import type { Answer, Ask } from "../../../packages/conformance/src/protocol/answers.ts";
import { createAsk } from "../../../packages/conformance/src/transport/ask.ts";

export const ADMIN = "admin_token_of_the_claims_tests";
const { models } = JSON.parse(
  readFileSync(new URL("../../../packages/server/reference-schema.json", import.meta.url), "utf8"),
) as { models: object };

/** Two servers on the file's own database, and functions for its tests. */
export interface ClaimTenant {
  readonly databaseUrl: string;
  readonly key: string;
  readonly organization: string;
  readonly servers: readonly [RunningServer, RunningServer];
  /** Asks the first server, or the second one. */
  readonly ask: Ask;
  readonly askSecond: Ask;
  agent(name: string, more?: object): Promise<{ readonly id: string; readonly token: string }>;
  make(id: string, data?: object): Promise<void>;
  claim(token: string, id: string, body?: object, ask?: Ask): Promise<Answer>;
  claimOf(token: string, id: string): Promise<Claim>;
  lineOf(id: string): Promise<ClaimList>;
  log(): Promise<readonly LogEntry[]>;
}

export async function startTenant(
  prepare: (databaseUrl: string) => Promise<void> = async () => {},
): Promise<ClaimTenant> {
  const { url: databaseUrl } = await freshDatabase();
  await prepare(databaseUrl);
  const start = () => startServer({ databaseUrl, adminToken: ADMIN, masterKeys: [newMasterKey()], port: 0 });
  const servers = [await start(), await start()] as const;
  const key = await keyOf(servers[0].url);
  const [first, second] = servers.map(({ url }) => createAsk(url, key)) as [
    ReturnType<typeof createAsk>,
    ReturnType<typeof createAsk>,
  ];
  afterAll(async () => {
    first.close();
    second.close();
    await Promise.all(servers.map((server) => server.close()));
  });
  const { ask } = first;
  const organization = String((await ask("GET", "/v1/identity")).body.organization);
  return {
    databaseUrl,
    key,
    organization,
    servers,
    ask,
    askSecond: second.ask,
    async agent(name, more = {}) {
      const json = { participantId: name, operations: ["slide.*"], syncGroups: [`org:${organization}`], ...more };
      const { body } = await ask("POST", "/v1/capabilities", { json });
      return { id: String(body.id), token: String(body.token) };
    },
    make: async (id, data = {}) => void (await ask("POST", "/v1/models/slide", { json: { id, data } })),
    claim: (token, id, json = {}, where = ask) => where("POST", `/v1/models/slide/${id}/claim`, { token, json }),
    claimOf: async (token, id) => (await ask("GET", `/v1/claims/${id}`, { token })).body as unknown as Claim,
    lineOf: async (id) => (await ask("GET", `/v1/claims?model=slide&id=${id}`)).body as unknown as ClaimList,
    log: async () => (await ask("GET", "/v1/log?limit=1000")).body.data as LogEntry[],
  };
}

/** An organization with the reference models. */
async function keyOf(url: string): Promise<string> {
  const { ask, close } = createAsk(url, ADMIN);
  const { body } = await ask("POST", "/v1/organizations", { json: { name: "claims" } });
  const minted = await ask("POST", "/v1/secret_keys", { json: { organization: body.id, livemode: true } });
  const key = String(minted.body.token);
  await ask("POST", "/v1/schema", { token: key, json: { models } });
  close();
  return key;
}

export const claimIn = ({ body }: Answer): Claim => body as unknown as Claim;
