import { exec } from "node:child_process";
import { promisify } from "node:util";
import type { TokenOrigin } from "./mcp-args.ts";

const run = promisify(exec);

const TIMEOUT_MS = 20_000;

/**
 * Returns the agent's token each time one is needed. Agent tokens expire after minutes; a command or a URL provides the
 * next one, so that the host need not restart. Their output is never shown in an error, because it may be the token.
 */
export function agentToken(origin: TokenOrigin): () => Promise<string> {
  switch (origin.kind) {
    case "fixed":
      return async () => origin.token;
    case "command":
      return async () => ofCommand(origin.command);
    case "url":
      return async () => ofAddress(origin.url);
  }
}

async function ofCommand(command: string): Promise<string> {
  try {
    const { stdout } = await run(command, { timeout: TIMEOUT_MS, windowsHide: true });
    return present(stdout, "HOLDFAST_TOKEN_COMMAND did not print a token.");
  } catch (error) {
    const { code, killed } = error as { code?: unknown; killed?: boolean };
    if (code === undefined && !killed) throw error;
    throw new Error(
      killed
        ? `HOLDFAST_TOKEN_COMMAND did not finish within ${TIMEOUT_MS / 1_000} s.`
        : `HOLDFAST_TOKEN_COMMAND exited with ${code}.`,
    );
  }
}

/** The body is the token, or JSON with a `token` field, as the service responds. */
async function ofAddress(url: string): Promise<string> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!answer.ok) throw new Error(`HOLDFAST_TOKEN_URL answered ${answer.status}.`);
  const text = await answer.text();
  return present(text.trimStart().startsWith("{") ? tokenIn(text) : text, "HOLDFAST_TOKEN_URL did not return a token.");
}

function tokenIn(text: string): string {
  try {
    const { token } = JSON.parse(text) as { token?: unknown };
    return typeof token === "string" ? token : "";
  } catch {
    return "";
  }
}

function present(text: string, otherwise: string): string {
  const token = text.trim();
  if (token === "" || /\s/.test(token)) throw new Error(otherwise);
  return token;
}
