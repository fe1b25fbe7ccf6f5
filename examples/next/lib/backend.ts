// For the server alone: it knows the secret key.
import { dehydrate, type Snapshot } from "@holdfast/react/server";
import { createClient } from "@holdfast/sdk/node";
import { backendUrl, secretKey } from "./keys.mjs";
import { schema } from "./schema";

/** A token for the person who is signed in, good for a quarter of an hour. It reaches one deck. */
export async function tokenFor(person: string): Promise<string> {
  const response = await fetch(new URL("/v1/ephemeral_keys", backendUrl), {
    method: "POST",
    headers: { authorization: `Bearer ${secretKey()}`, "content-type": "application/json" },
    body: JSON.stringify({ user: { id: person }, operations: ["slide.*"], syncGroups: ["deck:d1"] }),
    cache: "no-store",
  });
  if (!response.ok) throw new Error(`No token: ${response.status}`);
  return ((await response.json()) as { token: string }).token;
}

/** What the page shows, read as the person who asks for it: so it contains only what they may see. */
export async function readDeck(person: string): Promise<Snapshot> {
  const client = createClient({ schema, url: backendUrl, getToken: () => tokenFor(person), stream: false });
  try {
    return await dehydrate(client, [["slide", { where: { deckId: "d1" }, orderBy: "order" }]]);
  } finally {
    await client.close();
  }
}
