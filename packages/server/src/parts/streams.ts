import { limits as agreed } from "@holdfast/sdk/protocol";
import { openPresenceChannel } from "../db/presence/presence-channel.ts";
import { keepWaiters, type Waiter } from "../flows/claims/keep-claims.ts";
import type { AnswerBounds } from "../limits/answer-bytes.ts";
import { createLimiter } from "../limits/limiter.ts";
import { type Gateway, openGateway } from "../realtime/gateway.ts";
import type { PresenceTimes } from "../realtime/presence/presence-mesh.ts";
import { openPresenceRooms } from "../realtime/presence/presence-rooms.ts";
import { createHeartbeat } from "../workers/heartbeat.ts";
import type { Authentication } from "./authentication.ts";
import type { ServerContext } from "./context.ts";
import type { Part } from "./part.ts";
import type { Planes } from "./planes.ts";

/** Each welcome makes three queries, which concurrent welcomes share. */
const WELCOMES = { most: 32, mostPerKey: 24 };
/** How often open streams count as a sign of life: well within the time after which a waiter counts as silent. */
const WAITERS_MS = 10_000;
/** The members of a killed process stay visible for at most `silentMs` plus one `beatMs`. */
const PRESENCE_TIMES: PresenceTimes = {
  graceMs: agreed.presenceGraceMs,
  beatMs: 10_000,
  silentMs: 25_000,
  settleMs: 150,
};

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

/** WebSockets: logs, claims, and presence rooms. */
export function openStreams(
  ctx: ServerContext,
  isOriginAllowed: (origin: string) => boolean,
  { authenticator, failedAuths, clientAddress, quota }: Authentication,
  planes: Planes,
): Streams {
  const { options, limits, publicUrl, report, answers } = ctx;
  const heartbeat = createHeartbeat<Waiter>({
    beat: (waiters) =>
      planes.each((plane, home) => keepWaiters(plane.pool, plane.lanes)(waiters.filter((one) => one.home === home))),
    failed: report("waiters_failed"),
    everyMs: WAITERS_MS,
  });
  const rooms = openPresenceRooms({
    times: { ...PRESENCE_TIMES, ...options.presenceTimes },
    openChannel: (on) => openPresenceChannel(options.databaseUrl, on),
    // Monotonic: if the wall clock were set back, departed members would stay visible.
    now: () => Math.floor(performance.timeOrigin + performance.now()),
    failed: report("presence_failed"),
  });
  const gateway = openGateway({
    rooms,
    followed: planes.followed,
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
    stop: async () => void (await Promise.all([rooms.close(), gateway.close()])),
    close: heartbeat.stop,
  };
}
