import { type ServerOptions, startServer } from "../server.ts";

// A server that can be killed: starts with the options that it is given as JSON, says where it is, and stays.
const [options = ""] = process.argv.slice(2);
const { url } = await startServer(JSON.parse(options) as ServerOptions);
process.stdout.write(`${JSON.stringify({ object: "listening", url })}\n`);
