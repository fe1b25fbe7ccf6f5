import { createClient, fileStorage } from "@holdfast/sdk/node";
import { schema } from "./schema.ts";
import { work } from "./work.ts";
import { writeNotes } from "./write-notes.ts";

const {
  HOLDFAST_URL: url = "http://127.0.0.1:8787",
  HOLDFAST_TOKEN: token,
  AGENT_FILE: file = "agent.db",
} = process.env;
if (!token) throw new Error("Set HOLDFAST_TOKEN to the token of this agent.");

const client = createClient({ schema, url, getToken: () => token, storage: fileStorage(file) });
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

const say = (line: string) => console.log(line);
await client.ready();
say(`ready: ${client.status().pending} writes left from before`);
await work(client, { think: writeNotes, stop: stop.signal, say });
await client.close(); // releases what is still held; what was not sent yet stays in the file
