// Tells the server what a slide is, and makes the first one.
import { backendUrl, secretKey } from "./lib/keys.mjs";

const schema = {
  models: {
    slide: {
      fields: { deckId: { type: "string" }, title: { type: "string", required: true }, order: { type: "number" } },
      groups: [{ kind: "deck", from: "deckId" }],
    },
  },
};

await post("/v1/schema", schema);
await post("/v1/models/slide", { id: "s1", data: { deckId: "d1", title: "Hello from the server", order: 1 } });

async function post(path, body) {
  const headers = {
    authorization: `Bearer ${secretKey()}`,
    "content-type": "application/json",
    "idempotency-key": `setup-${path.split("/").at(-1)}`,
  };
  const response = await fetch(new URL(path, backendUrl), { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
}
