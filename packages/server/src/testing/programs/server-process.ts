import { type ServerOptions, startServer } from "../../server.ts";

// A process that tests can kill: starts the server with options given as JSON, prints its URL, and keeps running.
const [options = ""] = process.argv.slice(2);
const { url } = await startServer(JSON.parse(options) as ServerOptions);
process.stdout.write(`${JSON.stringify({ object: "listening", url })}\n`);
