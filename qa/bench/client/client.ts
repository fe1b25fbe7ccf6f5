import { createClient } from "@holdfast/sdk/node";
import type { ServerReady } from "../stage/server.ts";
import { slideSchema as schema } from "./slide-schema.ts";

/** The client as agents use it, connected and ready. */
export async function connect({ url, tokens }: ServerReady) {
  const client = createClient({ schema, url, getToken: () => tokens[0] as string });
  await client.ready();
  return client;
}
