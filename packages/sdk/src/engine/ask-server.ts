import { knownFailure } from "../core/queue/known-failure.ts";
import { type Reply, verdictOf } from "../core/queue/outcome.ts";
import { readFailure } from "../core/queue/read-failure.ts";
import { SyncError } from "../errors.ts";
import type { ClientEndpointName } from "../protocol/client-paths.ts";
import type { Engine } from "./engine.ts";
import type { Asked, Server } from "./ports.ts";

/** Makes one request for the app. Resolves with the body, and rejects with a `SyncError`. */
export async function askServer(
  { server, engine }: { readonly server: Pick<Server, "request">; readonly engine: Pick<Engine, "dispatch"> },
  name: ClientEndpointName,
  options: Asked,
  signal: AbortSignal = new AbortController().signal,
): Promise<unknown> {
  const reply = await server.request(name, options, signal);
  const verdict = verdictOf(reply);
  if (verdict.then === "read") return verdict.body;
  if (verdict.then === "refused") throw new SyncError(verdict.failure);
  if (verdict.then === "sign-in") engine.dispatch({ type: "tokenRefused", reason: verdict.reason });
  const code = verdict.then === "sign-in" ? "auth_no_credentials" : "unavailable";
  throw new SyncError(failureOf(reply) ?? knownFailure(code, verdict.reason));
}

const failureOf = (reply: Reply) => (reply.kind === "answer" ? readFailure(reply.body, reply.status) : undefined);
