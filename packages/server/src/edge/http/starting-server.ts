import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { serverLimits } from "@holdfast/sdk/protocol";
import type { FastifyBaseLogger } from "fastify";
import { createAnswerBytes } from "../../kernel/limits/answer-bytes.ts";
import { createLimiter } from "../../kernel/limits/limiter.ts";
import { refuse } from "../../kernel/refusal.ts";
import { originCheck } from "../addresses/origin-check.ts";
import { createPublicUrl } from "../addresses/public-url.ts";
import { PREFIXES } from "../addresses/request-url.ts";
import { endWithRefusal } from "../envelope/raw-refusal.ts";
import { createCounters } from "./counters.ts";
import { createEdge } from "./edge.ts";
import { sendRefusal } from "./mount.ts";

export interface StartingOptions {
  readonly host: string;
  readonly port: number;
  readonly origins: readonly string[] | undefined;
  readonly publicUrl: string | undefined;
  readonly logger: FastifyBaseLogger;
}

export interface StartingServer {
  /** The actual port, also if the configured one was 0. */
  readonly port: number;
  /** Frees the address for the server that was starting. */
  close(): Promise<void>;
}

/** How long open requests may take to finish: every response here is immediate. */
const CLOSE_MS = 100;

const METHODS = new Set(["GET", "HEAD", "OPTIONS"]);
const LIVE = new Set(PREFIXES.map((prefix) => `${prefix}/livez`));

/**
 * Listens on the server's address while its database is being prepared. Migrations of large tables, or a recovery after
 * a crash, take minutes, and an orchestrator kills a process that does not respond. `/livez` succeeds; everything else
 * gets "try again later".
 */
export async function listenWhileStarting(options: StartingOptions): Promise<StartingServer> {
  const stopping = new AbortController();
  const { docUrl } = createPublicUrl(options.publicUrl);
  const refusal = refuse("unavailable", { message: "The server is starting. Try again in a moment." });
  const { app, connections } = await createEdge({
    logger: options.logger,
    isOriginAllowed: originCheck(options.origins),
    stopping: stopping.signal,
    docUrl,
    limits: serverLimits,
    counters: createCounters(),
    answers: createAnswerBytes({ perToken: serverLimits.answerBytesPerToken, total: Number.POSITIVE_INFINITY }),
    largeBodies: createLimiter({ most: 1, mostPerKey: 1 }),
  });
  // Close the connection, so that the next request reaches the real server.
  app.addHook("onSend", ({ raw }, reply, payload, next) => {
    if (connections.isNewest(raw)) void reply.header("connection", "close");
    next(null, payload);
  });
  app.addHook("onRequest", ({ method, url }, reply, next) => {
    if (METHODS.has(method) && LIVE.has(url.split("?")[0] as string)) next();
    else sendRefusal(reply, refusal);
  });
  app.server.on("upgrade", (_request, socket: Duplex) => endWithRefusal(socket, refusal, docUrl));
  for (const path of LIVE) app.get(path, async () => ({ object: "health", status: "live" }));
  await app.listen({ host: options.host, port: options.port });
  const { port } = app.server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  const close = async () => {
    const { closed } = await connections.refuseMore();
    stopping.abort();
    const cut = setTimeout(() => app.server.closeAllConnections(), CLOSE_MS);
    await closed;
    clearTimeout(cut);
  };
  return { port, close: () => (closed ??= close()) };
}
