import { readFailure } from "../core/queue/read-failure.ts";
import type { Clock, Server, TokenSource } from "./ports.ts";
import { timeOf } from "./server-time.ts";

export interface NamedOwner {
  readonly kind: "named";
  readonly owner: string;
  /** The server's time, and the device's, when it said so. */
  readonly serverTime: string | undefined;
  readonly answeredAt: number;
}

/** The server's answer about the present token. */
export type TokenOwner =
  | NamedOwner
  /** The server refused the token, or the app has none. */
  | { readonly kind: "refused"; readonly reason: string }
  /** There was no answer. */
  | { readonly kind: "silent"; readonly reason: string };

export async function askOwner(server: Server, signal: AbortSignal, clock: Clock): Promise<TokenOwner> {
  const begunAt = clock.now();
  const reply = await server.request("readIdentity", {}, signal);
  if (reply.kind === "no-token") return { kind: "refused", reason: reply.reason };
  if (reply.kind === "silence") return { kind: "silent", reason: reply.reason };
  if (reply.status === 200) {
    const { owner, serverTime } = (reply.body ?? {}) as Partial<Record<"owner" | "serverTime", unknown>>;
    const said = typeof serverTime === "string" ? { serverTime } : {};
    if (typeof owner === "string") {
      return { kind: "named", owner, serverTime: timeOf(said, begunAt, clock), answeredAt: clock.now() };
    }
  }
  const failure = readFailure(reply.body, reply.status);
  const reason = failure?.message ?? `The server answered with status ${reply.status}.`;
  return { kind: failure?.then === "sign-in" || reply.status === 401 ? "refused" : "silent", reason };
}

/** The same, and if the token is refused, once more with the app's next one. */
export async function askOwnerTwice(
  server: Server,
  token: TokenSource,
  signal: AbortSignal,
  clock: Clock,
): Promise<TokenOwner> {
  const first = await askOwner(server, signal, clock);
  if (first.kind !== "refused") return first;
  const next = await token.next().catch(() => undefined);
  if (next === undefined) return first;
  token.use(next);
  return await askOwner(server, signal, clock);
}
