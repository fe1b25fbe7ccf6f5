import { ask } from "./ask.ts";
import { secretKey } from "./server-secrets.ts";

/** The import agent signs its writes with this name. */
export const AGENT = "importer";

const MODELS = ["document", "documentchunk", "ingestionjob", "slide"];
/** What the page does: it edits slides, and watches the rest. */
const PERSON_OPERATIONS = ["slide.*", "document.read", "documentchunk.read", "ingestionjob.read"];

/** A fresh token for a person's browser, good for a quarter of an hour; the page asks again when it has ended. */
export const personToken = async (serverUrl: string, person: string): Promise<string> =>
  await mint(serverUrl, "/v1/ephemeral_keys", { user: { id: person }, operations: PERSON_OPERATIONS });

/** A token for the agent, for as long as an import may take. */
export const agentToken = async (serverUrl: string): Promise<string> =>
  await mint(serverUrl, "/v1/capabilities", {
    participantId: AGENT,
    operations: MODELS.map((model) => `${model}.*`),
    ttlSeconds: 3_600,
  });

/** As a backend does it that knows who is signed in: with the secret key, which never leaves it. */
async function mint(serverUrl: string, path: string, wanted: object): Promise<string> {
  const key = await secretKey();
  const { organization } = await ask<{ organization: string }>(serverUrl, key, "GET", "/v1/identity");
  // The board shows every deck to everybody: the organisation's group is all of its records.
  const { token } = await ask<{ token: string }>(serverUrl, key, "POST", path, {
    ...wanted,
    syncGroups: [`org:${organization}`],
  });
  return token;
}
