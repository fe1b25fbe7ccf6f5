import { ask } from "./ask.ts";
import { secretKey } from "./server-secrets.ts";

/** The agents of this demo by the names that they sign with, and what each may do. */
const AGENTS = {
  importer: ["document.*", "documentchunk.*", "ingestionjob.*", "slide.*"],
  proofreader: ["slide.*", "document.read", "ingestionjob.read"],
} as const;
export type Agent = keyof typeof AGENTS;

/** What the page does: it edits slides, takes them over from agents, and watches the rest. */
const PERSON_OPERATIONS = ["slide.*", "claim.preempt", "document.read", "documentchunk.read", "ingestionjob.read"];

/** A fresh token for a person's browser, good for a quarter of an hour; the page asks again when it has ended. */
export const personToken = async (serverUrl: string, person: string): Promise<string> =>
  await mint(serverUrl, "/v1/ephemeral_keys", { user: { id: person }, operations: PERSON_OPERATIONS });

/** A token for an agent, for as long as its work may take. */
export const agentToken = async (serverUrl: string, agent: Agent): Promise<string> =>
  await mint(serverUrl, "/v1/capabilities", {
    participantId: agent,
    operations: AGENTS[agent],
    ttlSeconds: 3_600,
  });

/** As a backend does it that knows who is signed in: with the secret key, which never leaves it. */
async function mint(serverUrl: string, path: string, wanted: object): Promise<string> {
  const key = await secretKey();
  const { organization } = await ask<{ organization: string }>(serverUrl, key, "GET", "/v1/identity");
  // The board shows every deck to everybody: the organization's group is all of its records.
  const { token } = await ask<{ token: string }>(serverUrl, key, "POST", path, {
    ...wanted,
    syncGroups: [`org:${organization}`],
  });
  return token;
}
