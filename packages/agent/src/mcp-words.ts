import { parseArgs } from "node:util";

export const USAGE = `Usage: holdfast-mcp [options]

An MCP server on stdin and stdout that lets a model read, list, claim, update and release the records of a Holdfast server.

  --url <address>      the server (default: HOLDFAST_URL, else http://127.0.0.1:8787)
  --schema <file>      a JSON file with the models (default: those that the server has)
  --models <a,b>       only these models
  --store <file>       keeps what waits to be sent over restarts; needs the package libsql

HOLDFAST_TOKEN is the token of the agent, and who it is: everything is done in its name, within its scope.
`;

export interface Words {
  readonly url: string;
  readonly token: string;
  readonly schemaFile: string | undefined;
  readonly models: readonly string[] | undefined;
  readonly store: string | undefined;
}

/** What is said to whoever started it, without a stack. */
export class WordsError extends Error {}

/** Undefined: help was asked for. */
export function readWords(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Words | undefined {
  const { values } = parse(words);
  if (values.help) return undefined;
  const token = env.HOLDFAST_TOKEN?.trim();
  if (!token) throw new WordsError("HOLDFAST_TOKEN is not set: the token of the agent. See --help.");
  const url = values.url ?? env.HOLDFAST_URL ?? "http://127.0.0.1:8787";
  if (!/^https?:$/.test(protocolOf(url))) throw new WordsError(`--url takes an http or https address, not "${url}".`);
  const models = values.models?.split(",").map((name) => name.trim());
  return { url, token, schemaFile: values.schema, models, store: values.store };
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: {
        url: { type: "string" },
        schema: { type: "string" },
        models: { type: "string" },
        store: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new WordsError(`${(error as Error).message} See --help.`);
  }
}

function protocolOf(url: string): string {
  try {
    return new URL(url).protocol;
  } catch {
    return "";
  }
}
