#!/usr/bin/env node
// The MCP server over stdio. stdout belongs to the protocol, so messages for people go to stderr.
import { createClient, fileStorage } from "@holdfast/sdk/node";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { agentToken } from "./agent-token.ts";
import { chooseSchema, coveredModels } from "./choose-schema.ts";
import { createTools } from "./create-tools.ts";
import { createMcpServer } from "./mcp.ts";
import { type McpArgs, readMcpArgs, USAGE, UsageError } from "./mcp-args.ts";
import { version } from "./version.ts";

const print = (line: string): void => void process.stderr.write(`holdfast-mcp: ${line}\n`);

async function serve(args: McpArgs): Promise<void> {
  const token = agentToken(args.token);
  const chosen = await chooseSchema(args, token);
  const { covered: schema, left } = await coveredModels(chosen, args.url, await token());
  if (left.length > 0) print(`models that the token does not cover are omitted: ${left.join(", ")}`);
  const client = createClient({
    schema,
    url: args.url,
    getToken: token,
    ...(args.store !== undefined && { storage: fileStorage(args.store) }),
  });
  const kit = createTools({
    ...{ client, schema, run: args.run, onBehalfOf: args.onBehalfOf },
    ...(args.propose && { propose: true }),
  });
  const handle = serveStdio(() => createMcpServer(kit, version), { onerror: (error) => print(error.message) });
  print(`serving ${Object.keys(schema.models).length} models from ${args.url}`);

  // The host ends the server by closing its stdin or with a signal. Held claims are released in either case.
  let isEnding = false;
  const close = async () => {
    await kit.close();
    await client.close();
    await handle.close();
  };
  const end = () => {
    if (isEnding) return;
    isEnding = true;
    close()
      .catch((error: Error) => print(error.message))
      .finally(() => process.exit());
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, end);
  process.stdin.on("end", end);
  process.stdin.on("close", end);
  // A host that has closed the pipe is a normal end, not an error.
  process.stdout.on("error", end);
}

async function main(): Promise<void> {
  const args = readMcpArgs(process.argv.slice(2), process.env);
  if (!args) return void process.stdout.write(USAGE);
  await serve(args);
}

main().catch((error: Error) => {
  print(error instanceof UsageError || error.name === "SyncError" ? error.message : (error.stack ?? error.message));
  process.exitCode = 1;
});
