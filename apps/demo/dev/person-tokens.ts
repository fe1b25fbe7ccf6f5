import { createBackend } from "@holdfast/sdk/backend";
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
export async function personToken(serverUrl: string, person: string): Promise<string> {
  const backend = createBackend({ url: serverUrl, key: await secretKey() });
  // The board shows every deck to every person.
  return await backend.tokenFor(person, { operations: PERSON_OPERATIONS, wholeOrganization: true });
}

/** A token for an agent, for as long as its work may take. */
export async function agentToken(serverUrl: string, agent: Agent): Promise<string> {
  const backend = createBackend({ url: serverUrl, key: await secretKey() });
  const { organization } = await backend.identity();
  const { token } = await backend.agentToken({
    participantId: agent,
    operations: [...AGENTS[agent]],
    syncGroups: [`org:${organization}`],
    // It works for whoever sends it.
    onBehalfOf: ["*"],
    ttlSeconds: 3_600,
  });
  return token;
}
