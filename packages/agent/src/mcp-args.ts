import { parseArgs } from "node:util";

export const USAGE = `Usage: holdfast-mcp [options]

An MCP server on stdin and stdout that lets a model read, list, claim, update and release the records of a Holdfast server.

  --url <url>          the server (default: HOLDFAST_URL, else http://127.0.0.1:8787)
  --schema <file>      a JSON file with the models (default: the server's models)
  --models <a,b>       only these models
  --run <name>         what the agent is doing: said with all that it writes and claims
  --on-behalf-of <who> for whom, as user:ann; the token has to allow it
  --propose             every update is a proposal, which a person decides
  --store <file>       a file that keeps unsent writes across restarts; needs the package libsql

The token identifies the agent: the tools act as it, within its scope. Set one of
  HOLDFAST_TOKEN           the token itself; when it expires, the tools answer needs_auth
  HOLDFAST_TOKEN_COMMAND   a command that prints a token, run when one is needed
  HOLDFAST_TOKEN_URL       a URL that returns a token, or JSON with a "token"
`;

/** Where the agent's token comes from. */
export type TokenOrigin =
  | { readonly kind: "fixed"; readonly token: string }
  | { readonly kind: "command"; readonly command: string }
  | { readonly kind: "url"; readonly url: string };

export interface McpArgs {
  readonly url: string;
  readonly token: TokenOrigin;
  readonly schemaFile: string | undefined;
  readonly models: readonly string[] | undefined;
  readonly run: string | undefined;
  readonly onBehalfOf: string | undefined;
  readonly propose: boolean;
  readonly store: string | undefined;
}

/** An error for the user of the command, shown without a stack trace. */
export class UsageError extends Error {}

/** Undefined: help was requested. */
export function readMcpArgs(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): McpArgs | undefined {
  const { values } = parse(args);
  if (values.help) return undefined;
  const token = tokenOrigin(env);
  const url = values.url ?? env.HOLDFAST_URL ?? "http://127.0.0.1:8787";
  if (!/^https?:$/.test(protocolOf(url))) throw new UsageError(`--url must be an http or https URL (got "${url}").`);
  const models = values.models?.split(",").map((name) => name.trim());
  return {
    url,
    token,
    schemaFile: values.schema,
    models,
    run: values.run,
    onBehalfOf: values["on-behalf-of"],
    propose: values.propose === true,
    store: values.store,
  };
}

function tokenOrigin(env: Readonly<Record<string, string | undefined>>): TokenOrigin {
  const token = env.HOLDFAST_TOKEN?.trim();
  const command = env.HOLDFAST_TOKEN_COMMAND?.trim();
  const url = env.HOLDFAST_TOKEN_URL?.trim();
  const given = [token, command, url].filter(Boolean);
  if (given.length > 1)
    throw new UsageError("Set one of HOLDFAST_TOKEN, HOLDFAST_TOKEN_COMMAND and HOLDFAST_TOKEN_URL, not several.");
  if (token) return { kind: "fixed", token };
  if (command) return { kind: "command", command };
  if (!url)
    throw new UsageError(
      "Set HOLDFAST_TOKEN to the agent's token, or HOLDFAST_TOKEN_COMMAND or HOLDFAST_TOKEN_URL to get one that is renewed. See --help.",
    );
  if (!/^https?:$/.test(protocolOf(url))) throw new UsageError("HOLDFAST_TOKEN_URL must be an http or https URL.");
  return { kind: "url", url };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        url: { type: "string" },
        schema: { type: "string" },
        models: { type: "string" },
        run: { type: "string" },
        "on-behalf-of": { type: "string" },
        propose: { type: "boolean" },
        store: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message} See --help.`);
  }
}

function protocolOf(url: string): string {
  try {
    return new URL(url).protocol;
  } catch {
    return "";
  }
}
