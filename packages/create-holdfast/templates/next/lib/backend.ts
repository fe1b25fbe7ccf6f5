// For the server alone: it knows the secret key.
import { dehydrate, type Snapshot } from "@holdfast/react/server";
import { createBackend } from "@holdfast/sdk/backend";
import { createClient } from "@holdfast/sdk/node";
import { backendUrl, secretKey } from "./keys.mjs";
import { schema } from "./schema";

/** A token for the person who is signed in, good for a quarter of an hour. It reaches one deck. */
export const tokenFor = (person: string): Promise<string> =>
  // Next would build the page once, with one person's token, if it could keep the answer.
  createBackend({
    url: backendUrl,
    key: secretKey(),
    fetch: (request) => fetch(request, { cache: "no-store" }),
  }).tokenFor(person, { operations: ["slide.*"], syncGroups: ["deck:d1"] });

/** What the page shows, read as the person who asks for it: so it contains only what they may see. */
export async function readDeck(person: string): Promise<Snapshot> {
  const client = createClient({ schema, url: backendUrl, getToken: () => tokenFor(person), stream: false });
  try {
    return await dehydrate(client, [["slide", { where: { deckId: "d1" }, orderBy: "order" }]]);
  } finally {
    await client.close();
  }
}
