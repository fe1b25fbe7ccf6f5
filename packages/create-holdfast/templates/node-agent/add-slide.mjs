// npm run add -- "A title": a slide without notes, for the agent to find.
import { backendOf } from "./backend.mjs";

const title = process.argv.slice(2).join(" ") || "A slide without notes";
const id = crypto.randomUUID();
await backendOf(process.env.HOLDFAST_URL ?? "http://127.0.0.1:8787").commit([
  { action: "create", model: "slide", id, data: { deckId: "d1", title } },
]);
console.log(`${id}: ${title}`);
