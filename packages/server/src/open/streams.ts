import { limits as agreed } from "@holdfast/sdk/protocol";
import { type Gateway, openGateway } from "../edge/socket/gateway.ts";
import type { OpenStream } from "../edge/socket/handshake.ts";
import type { AnswerBounds } from "../kernel/limits/answer-bytes.ts";
import { createLimiter } from "../kernel/limits/limiter.ts";
import type { Part } from "../kernel/part.ts";
import { createHeartbeat } from "../kernel/workers/heartbeat.ts";
import type { ServiceModules } from "../modules/open-modules.ts";
import type { Authentication } from "./authentication.ts";
import type { ServerContext } from "./context.ts";
import type { TenantDatabases } from "./tenant-databases.ts";

/** Each welcome makes three queries, which concurrent welcomes share. */
const WELCOMES = { most: 32, mostPerKey: 24 };
/** How often open streams count as a sign of life: well within the time after which one who waits counts as silent. */
const ALIVE_MS = 10_000;
/**
 * Pages to sockets are counted by their largest size, since they wait for their places before they are read. Half of the
 * room is left to HTTP, which does not wait.
 */
const pagesWithin = ({ perToken, total }: AnswerBounds) => ({
  most: Math.max(1, Math.floor(total / 2 / agreed.pageBytes)),
  mostPerKey: Math.max(1, Math.floor(perToken / agreed.pageBytes)),
});

export interface Streams extends Part {
  readonly gateway: Gateway;
}

/** WebSockets: logs, and what modules do there. */
export function openStreams(
  ctx: ServerContext,
  isOriginAllowed: (origin: string) => boolean,
  { authenticator, failedAuths, clientAddress, quota }: Authentication,
  databases: TenantDatabases,
  modules: Pick<ServiceModules, "sockets">,
): Streams {
  const { limits, publicUrl, report, answers } = ctx;
  const heartbeat = createHeartbeat<OpenStream>({
    beat: (streams) => databases.each(({ alive }, id) => alive(streams.filter((one) => one.database === id))),
    failed: report("heartbeat_failed"),
    everyMs: ALIVE_MS,
  });
  const gateway = openGateway({
    modules: modules.sockets,
    followed: databases.followed,
    ...{ authenticator, failedAuths, clientAddress, quota, isOriginAllowed },
    welcomes: createLimiter(WELCOMES),
    answers,
    pages: createLimiter<string>(pagesWithin(answers.bounds)),
    streamOpened: heartbeat.soon,
    docUrl: publicUrl.docUrl,
    socketsPerToken: limits.socketsPerToken,
    recordBytes: limits.recordBytes,
    now: Date.now,
  });
  heartbeat.start(gateway.present);
  return {
    gateway,
    forget: () => gateway.restart("the logs have new ids"),
    stop: gateway.close,
    close: heartbeat.stop,
  };
}
