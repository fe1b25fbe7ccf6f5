// The real server on a given database, with as many organizations as asked for, each with the reference schema.

import { readFileSync } from "node:fs";
import { newMasterKey, type RunningServer, startServer } from "@holdfast/server";
import { askJson } from "../../../scripts/testing/ask-json.ts";

export interface ServerPlan {
  readonly databaseUrl: string;
  readonly organizations: number;
  readonly laneCommits?: number;
  /** For processes that share a database. */
  readonly masterKey?: string;
  /** Ends of tokens made by an earlier start on the same database: it is not filled again. */
  readonly tokens?: readonly string[];
}

export interface ServerReady {
  readonly url: string;
  readonly tokens: readonly string[];
  readonly organizations: readonly string[];
  /** A capability of the first organization's for slides of one deck: each of its writes is asked about its scope. */
  readonly scoped: string;
}

const plan = JSON.parse(process.argv[2] ?? "{}") as ServerPlan;
const adminToken = "benchmark-operator";
// A scoped token's rate is limited by default; here it is the scope that is measured.
const limits = { rateRk: 0, inFlightRk: 1_024 };
const server = await startServer({
  databaseUrl: plan.databaseUrl,
  adminToken,
  masterKeys: [plan.masterKey ?? newMasterKey()],
  port: 0,
  laneCommits: plan.laneCommits,
  limits,
  webhooks: { allowPrivate: true },
  datasourcesAllowPrivate: true,
});
const made = plan.tokens
  ? { tokens: plan.tokens, organizations: [] }
  : await makeOrganizations(server, plan.organizations);
const capability = { operations: ["slide.*"], syncGroups: ["deck:deck-1"], ttlSeconds: 86_400 };
const minted = await askJson(`${server.url}/v1/capabilities`, made.tokens[0] as string, "POST", capability);
const scoped = String(minted.token);
process.stdout.write(`${JSON.stringify({ url: server.url, ...made, scoped } satisfies ServerReady)}\n`);
process.on("SIGTERM", () => void server.close().then(() => process.exit(0)));

async function makeOrganizations(
  { url }: RunningServer,
  count: number,
): Promise<{ tokens: string[]; organizations: string[] }> {
  const schema = readFileSync(new URL("../../../packages/server/reference-schema.json", import.meta.url), "utf8");
  const tokens: string[] = [];
  const organizations: string[] = [];
  for (let i = 0; i < count; i++) {
    const { id } = await askJson(`${url}/v1/organizations`, adminToken, "POST", { name: `bench ${i}` });
    const key = { organization: id, livemode: true };
    const { token } = await askJson(`${url}/v1/secret_keys`, adminToken, "POST", key);
    await askJson(`${url}/v1/schema`, String(token), "POST", JSON.parse(schema));
    organizations.push(String(id));
    tokens.push(String(token));
  }
  return { tokens, organizations };
}
