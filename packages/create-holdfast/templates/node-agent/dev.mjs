// npm run dev: the Holdfast server and one agent, in one terminal. Ctrl-C ends both.
import { readFileSync } from "node:fs";
import { backendOf } from "./backend.mjs";
import { startProgram, startServer } from "./start.mjs";

const url = await startServer();
const backend = backendOf(url);
const schema = JSON.parse(readFileSync("schema.json", "utf8"));
const { version, unchanged } = await backend.pushSchema(schema);
if (version === 1 && !unchanged)
  await backend.commit([{ action: "create", model: "slide", id: "first", data: { deckId: "d1", title: "Hello" } }]);

// A token of its own: it says what this agent may do, and where.
const { token } = await backend.agentToken({
  participantId: "note-writer",
  operations: ["slide.read", "slide.update"],
  syncGroups: ["deck:d1"],
  ttlSeconds: 86_400,
});
console.log(`
  Server  ${url}/docs
  Agent   note-writer, with the slides of deck d1. Give it work in another terminal: npm run add -- "A title"

  Ctrl-C ends both.
`);
startProgram("tsx/dist/cli.mjs", ["src/main.ts"], { env: { HOLDFAST_URL: url, HOLDFAST_TOKEN: token } });
