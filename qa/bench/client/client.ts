import { createClient, defineSchema } from "@holdfast/sdk/node";
import type { ServerReady } from "../stage/server.ts";

export const schema = defineSchema({
  models: {
    slide: {
      fields: {
        deckId: { type: "string" },
        title: { type: "string" },
        order: { type: "number", default: 0 },
        notes: { type: "string" },
      },
    },
  },
});

/** The client as agents use it, connected and ready. */
export async function connect({ url, tokens }: ServerReady) {
  const client = createClient({ schema, url, getToken: () => tokens[0] as string });
  await client.ready();
  return client;
}
