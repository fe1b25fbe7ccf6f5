import { readDemoFile } from "../dev/demo-file.ts";
import { type Agent, agentToken } from "../dev/person-tokens.ts";

export interface ServerAccess {
  readonly url: string;
  readonly token: string;
  /** Where the board can be watched, when the server is the demo's. */
  readonly pageUrl: string | undefined;
}

/** The server that was named, or the demo that runs here; with the token that was given, or one of the agent's own. */
export async function findServer(
  url: string | undefined,
  token: string | undefined,
  agent: Agent,
): Promise<ServerAccess> {
  const demo = await readDemoFile();
  const isDemo = url === undefined || url === demo.serverUrl;
  const server = (url ?? demo.serverUrl)?.replace(/\/$/, "");
  if (!server) throw new Error("No demo is running here. Start one with npm start, or choose a server with --server.");
  const isUp = await fetch(`${server}/livez`).then(
    (answer) => answer.ok,
    () => false,
  );
  if (!isUp) throw new Error(`No server answers at ${server}. Is it running? Start the demo with npm start.`);
  if (token === undefined && !isDemo) throw new Error("Your own server needs a token: set --token or HOLDFAST_TOKEN.");
  return {
    url: server,
    token: token ?? (await agentToken(server, agent)),
    pageUrl: isDemo ? demo.pageUrl : undefined,
  };
}
