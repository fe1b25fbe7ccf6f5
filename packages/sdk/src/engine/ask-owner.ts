import { readFailure } from "../core/queue/read-failure.ts";
import type { Server, TokenSource } from "./ports.ts";

/** The server's answer about the present token. */
export type TokenOwner =
  | { readonly kind: "named"; readonly owner: string }
  /** The server refused the token, or the app has none. */
  | { readonly kind: "refused"; readonly reason: string }
  /** There was no answer. */
  | { readonly kind: "silent"; readonly reason: string };

export async function askOwner(server: Server, signal: AbortSignal): Promise<TokenOwner> {
  const reply = await server.request("readIdentity", {}, signal);
  if (reply.kind === "no-token") return { kind: "refused", reason: reply.reason };
  if (reply.kind === "silence") return { kind: "silent", reason: reply.reason };
  if (reply.status === 200) {
    const { owner } = (reply.body ?? {}) as { readonly owner?: unknown };
    if (typeof owner === "string") return { kind: "named", owner };
  }
  const failure = readFailure(reply.body, reply.status);
  const reason = failure?.message ?? `The server answered with status ${reply.status}.`;
  return { kind: failure?.then === "sign-in" || reply.status === 401 ? "refused" : "silent", reason };
}

/** The same, and if the token is refused, once more with the app's next one. */
export async function askOwnerTwice(server: Server, token: TokenSource, signal: AbortSignal): Promise<TokenOwner> {
  const first = await askOwner(server, signal);
  if (first.kind !== "refused") return first;
  const next = await token.next().catch(() => undefined);
  if (next === undefined) return first;
  token.use(next);
  return await askOwner(server, signal);
}
