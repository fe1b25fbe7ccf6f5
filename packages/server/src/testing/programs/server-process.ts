import { type ServerOptions, startServer } from "../../server.ts";

// A process that tests can kill: starts the server with options given as JSON, prints its URL, and runs until SIGTERM.
const [options = ""] = process.argv.slice(2);
const { url, close } = await startServer(JSON.parse(options) as ServerOptions);
process.once("SIGTERM", () => void close().then(() => process.exit(0)));
process.stdout.write(`${JSON.stringify({ object: "listening", url })}\n`);
