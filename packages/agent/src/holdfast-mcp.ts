#!/usr/bin/env node
// The MCP server over stdio. stdout belongs to the protocol, so messages for people go to stderr.
import { createClient, fileStorage } from "@holdfast/sdk/node";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { agentToken } from "./agent-token.ts";
import { chooseSchema, coveredModels } from "./choose-schema.ts";
import { createTools } from "./create-tools.ts";
import { createMcpServer } from "./mcp.ts";
import { readWords, USAGE, type Words, WordsError } from "./mcp-args.ts";
import { version } from "./version.ts";

const say = (line: string): void => void process.stderr.write(`holdfast-mcp: ${line}\n`);

async function serve(words: Words): Promise<void> {
  const token = agentToken(words.token);
  const chosen = await chooseSchema(words, token);
  const { covered: schema, left } = await coveredModels(chosen, words.url, await token());
  if (left.length > 0) say(`models that the token does not cover are omitted: ${left.join(", ")}`);
  const client = createClient({
    schema,
    url: words.url,
    getToken: token,
    ...(words.store !== undefined && { storage: fileStorage(words.store) }),
  });
  const kit = createTools({ client, schema });
  const handle = serveStdio(() => createMcpServer(kit, version), { onerror: (error) => say(error.message) });
  say(`serving ${Object.keys(schema.models).length} models from ${words.url}`);

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
      .catch((error: Error) => say(error.message))
      .finally(() => process.exit());
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, end);
  process.stdin.on("end", end);
  process.stdin.on("close", end);
  // A host that has closed the pipe is a normal end, not an error.
  process.stdout.on("error", end);
}

async function main(): Promise<void> {
  const words = readWords(process.argv.slice(2), process.env);
  if (!words) return void process.stdout.write(USAGE);
  await serve(words);
}

main().catch((error: Error) => {
  say(error instanceof WordsError || error.name === "SyncError" ? error.message : (error.stack ?? error.message));
  process.exitCode = 1;
});
