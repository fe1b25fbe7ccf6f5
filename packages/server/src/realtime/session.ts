import { closeCodes, FrameUp, limits, type ResyncReason, STREAM_PROTOCOL, type Welcome } from "@holdfast/sdk/protocol";
import type { WebSocket } from "ws";
import type { Authenticator } from "../flows/authenticate.ts";
import type { FollowClaims } from "../flows/follow-claims.ts";
import type { FollowLog } from "../flows/follow-log.ts";
import type { Waiter } from "../flows/keep-claims.ts";
import type { LiveSchema } from "../flows/schema-cache.ts";
import { newId } from "../ids.ts";
import { type Principal, participantName } from "../rules/participant.ts";
import { isRefusal, type Refusal, refuse } from "../rules/refusal.ts";
import { checkModel } from "../rules/scope.ts";
import { isSyncGroup } from "../rules/sync-group.ts";
import { isSameView, type View, viewName, viewOf } from "../rules/view.ts";
import { type DocUrl, envelopeOf } from "../wire/envelope.ts";
import { fullBucket } from "../wire/full-bucket.ts";
import { parseJson } from "../wire/json-body.ts";
import { shapeCheck } from "../wire/shape.ts";
import type { Strangers } from "../wire/strangers.ts";
import type { ClaimNews } from "./claim-news.ts";
import { createClaimWatch } from "./claim-watch.ts";
import type { Hub, Subscription } from "./hub.ts";
import { entriesFrame, type News, newsOfEntries } from "./news.ts";
import { createAttendance } from "./presence/attendance.ts";
import type { PresenceRooms } from "./presence/rooms.ts";
import type { Seat } from "./seats.ts";

export interface SessionDeps {
  readonly log: FollowLog;
  readonly hub: Hub;
  readonly claims: FollowClaims;
  readonly claimNews: ClaimNews;
  /** A stream was opened: whoever waits in a line lives. */
  heard(who: Waiter): void;
  readonly rooms: PresenceRooms;
  readonly authenticator: Authenticator;
  readonly strangers: Strangers;
  readonly docUrl: DocUrl;
  now(): number;
}

/** What a session knows of its own connection. */
export interface Connection {
  readonly address: string;
  readonly seat: Seat;
}

/**
 *             hello                   caught up with the tail
 *  greeting ─────────► catching-up ─────────────────────────► live
 *     ▲                    │ the log cannot be continued       │
 *     └──── resync ────────┴───────────────────────────────────┘
 */
type Phase =
  | { readonly name: "greeting"; readonly known?: Known }
  | ({ readonly name: "catching-up" | "live"; readonly subscription: Subscription } & Known);

/** Who said hello, and is still in its rooms when it is told to say hello again. */
interface Known {
  readonly principal: Principal;
  readonly token: string;
  readonly clientId: string | null;
}

export interface Session {
  /** Undefined before it said so. */
  who(): Waiter | undefined;
  /** Called every few seconds: is the token still good, is the reader still reading? */
  check(): Promise<void>;
  close(code: number, reason: string): void;
  /** Ends the session when it runs on that token; answers whether it did. */
  revoke(tokenId: string): boolean;
}

const PAGE = 500;
const checkFrame = shapeCheck(FrameUp);

/** One socket: it says hello, is brought up to date from the log, and then hears every commit. */
export function createSession(
  socket: WebSocket,
  { log, hub, claims, claimNews, heard, rooms, authenticator, strangers, docUrl, now }: SessionDeps,
  { address, seat }: Connection,
): Session {
  const id = newId("ses_");
  const frameBudget = fullBucket(limits.framesPerSecond, limits.framesBurst);
  let phase: Phase = { name: "greeting" };
  /** What the reader asked to hear, and what it gets of that. */
  let wish: Wish = { models: undefined, groups: undefined };
  let view: View = { models: undefined, groups: undefined };
  let position = 0;
  let slowSince: number | undefined;
  // Frames are answered one after the other, in the order they came.
  let turn: Promise<void> = Promise.resolve();
  const helloTimer = setTimeout(() => close(closeCodes.noHello, "no hello within 5 s"), limits.helloMs);

  const send = (frame: object | string) => {
    if (socket.readyState === socket.OPEN) socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  };
  const attendance = createAttendance(rooms, id, (frame, written) => {
    if (socket.readyState === socket.OPEN) socket.send(frame, { binary: false }, written);
    letGoIfSlow();
  });
  const close = (code: number, reason: string) => {
    clearTimeout(helloTimer);
    leave();
    attendance.breakOff();
    socket.close(code, reason);
    // A peer that does not answer the close is not waited for.
    setTimeout(() => socket.terminate(), 2_000).unref();
  };
  const fail = (refusal: Refusal, code: number) => {
    send({ frame: "error", ...envelopeOf(refusal, newId("req_"), docUrl) });
    close(code, refusal.code);
  };
  const tell = (frame: string) => {
    send(frame);
    letGoIfSlow();
  };
  const reader = () => (phase.name === "greeting" ? undefined : phase.principal);
  const claimWatch = createClaimWatch(claimNews, claims, tell, reader);
  const leave = () => {
    claimWatch.end();
    if (phase.name === "greeting") return;
    const { principal, token, clientId, subscription } = phase;
    subscription.end();
    phase = { name: "greeting", known: { principal, token, clientId } };
  };
  const known = (): Known | undefined => (phase.name === "greeting" ? phase.known : phase);
  const resync = (reason: ResyncReason) => {
    send({ frame: "resync", reason });
    leave();
  };

  async function receive(data: Buffer, isBinary: boolean): Promise<void> {
    if (isBinary) return fail(refuse("invalid_frame", { message: "Frames are JSON text." }), closeCodes.badFrame);
    const parsed = parseJson(data);
    if (isRefusal(parsed)) return fail(parsed, closeCodes.badFrame);
    const refusal = checkFrame(parsed.value);
    if (refusal)
      return fail(
        refuse("invalid_frame", refusal.param === undefined ? {} : { param: refusal.param }),
        closeCodes.badFrame,
      );
    await answer(parsed.value as FrameUp);
  }

  async function answer(frame: FrameUp): Promise<void> {
    if (frame.frame === "hello") return await greet(frame);
    // It may have been on its way when its sender was told to say hello again.
    if (frame.frame === "presence" && known()) return attend(frame);
    if (phase.name === "greeting")
      return fail(refuse("invalid_frame", { message: "The first frame is hello." }), closeCodes.badFrame);
    switch (frame.frame) {
      case "auth":
        return await renew(frame.token);
      case "follow":
        return follow(frame.models, frame.groups);
      case "watch":
        return await watch(frame.model, frame.ids);
      case "ping":
        return send({ frame: "pong", n: frame.n, stamp: phase.subscription.position() });
    }
  }

  /** Who a token is; bad ones are counted, and there is room for so many sockets of a good one. */
  async function introduced(token: string): Promise<Principal | Refusal> {
    if (strangers.areTooMany(address) && !authenticator.knows(token)) return refuse("rate_limited");
    const principal = await authenticator.principalOf(token);
    if (isRefusal(principal)) strangers.came(address);
    else if (!seat.moveTo(principal.tokenId))
      return refuse("rate_limited", { message: "Too many sockets of this token are open." });
    return principal;
  }

  function attend(frame: Extract<FrameUp, { frame: "presence" }>): void {
    const no = attendance.say(frame);
    if (no) fail(no.refusal, no.closeCode);
  }

  async function greet({
    token,
    clientId,
    log: logId,
    since,
    models,
    groups,
  }: Extract<FrameUp, { frame: "hello" }>): Promise<void> {
    clearTimeout(helloTimer);
    const principal = await introduced(token);
    if (isRefusal(principal)) return fail(principal, codeOf(principal));
    const seen = lookFor(principal, { models, groups });
    if (!seen) return;
    leave();
    const subscription = await hub.listen(principal.world, { hear, schemaPushed });
    // After the subscription: what comes from here on is heard.
    const [head, schema] = await where(principal.world).catch((error: unknown) => {
      subscription.end();
      throw error;
    });
    if (socket.readyState !== socket.OPEN) return subscription.end();
    phase = { name: "catching-up", principal, token, clientId: clientId ?? null, subscription };
    attendance.signIn(principal, clientId ?? null);
    wish = { models, groups };
    view = seen;
    position = since ?? head.syncId;
    const welcome: Welcome = {
      frame: "welcome",
      stamp: head.syncId,
      logId: head.logId,
      session: id,
      participant: participantName(principal.participantKind, principal.participantId),
      protocol: STREAM_PROTOCOL,
      resumeFrom: position,
      expiresAt: principal.expiresAt,
      schema: schema.version === 0 ? null : { version: schema.version, hash: schema.hash },
    };
    send(welcome);
    if (logId !== undefined && logId !== head.logId) return resync("other_log");
    if (position > head.syncId) return resync("ahead");
    if (position < head.trimmedTo) return resync("trimmed");
    await claimWatch.begin(principal);
    heard(whoIs(principal, clientId ?? null));
    await catchUp(principal.world, schema);
  }

  /** Where a log ends, and how its records look. */
  const where = async (world: number) => [await log.head(world), await log.schema(world)] as const;

  /** Reads the log from the reader's position until it meets the tail; from there on the tail tells. */
  async function catchUp(world: number, schema: LiveSchema): Promise<void> {
    while (phase.name === "catching-up") {
      const target = phase.subscription.position();
      if (position >= target) {
        phase = { ...phase, name: "live" };
        return;
      }
      const to = Math.min(target, position + PAGE);
      const entries = await log.entries(world, position, to);
      if (phase.name !== "catching-up") return;
      // A log has no holes: what is missing was trimmed away while we read.
      if (entries.length < to - position) return resync("trimmed");
      await new Promise<void>((resolve) =>
        socket.send(entriesFrame(view, newsOfEntries(position, to, entries, schema)), () => resolve()),
      );
      position = to;
    }
  }

  function hear(news: News): void {
    if (phase.name !== "live" || news.to <= position) return;
    send(position === news.from ? sharedFrame(view, news) : entriesFrame(view, news, position));
    position = news.to;
    letGoIfSlow();
  }

  function letGoIfSlow(): void {
    if (socket.bufferedAmount - attendance.greeting > limits.slowReaderBytes)
      close(closeCodes.slowReader, "reads too slowly");
  }

  function schemaPushed({ version, hash }: LiveSchema, rowsChanged: boolean): void {
    if (phase.name === "greeting") return;
    if (rowsChanged) resync("schema");
    else send({ frame: "schema", version, hash });
  }

  function follow(models: readonly string[] | undefined, groups: readonly string[] | undefined): void {
    if (phase.name === "greeting") return;
    const seen = lookFor(phase.principal, { models, groups });
    if (!seen) return;
    wish = { models, groups };
    view = seen;
  }

  async function watch(model: string, ids: readonly string[]): Promise<void> {
    if (phase.name === "greeting") return;
    const hidden = checkModel(phase.principal, model);
    if (hidden) return fail(hidden, closeCodes.forbidden);
    if ((await claimWatch.watch(phase.principal, model, ids)) === "watching") return;
    const message = `A socket watches up to ${limits.watchedPerSession} records.`;
    fail(refuse("invalid_value", { param: "ids", message }), closeCodes.badFrame);
  }

  /** The view that a wish gets; undefined when it was refused, and the socket with it. */
  function lookFor(principal: Principal, { models, groups }: Wish): View | undefined {
    if (groups?.every(isSyncGroup) === false) {
      fail(refuse("invalid_sync_group", { param: "groups" }), closeCodes.badFrame);
      return undefined;
    }
    const seen = viewOf(principal, models, groups);
    if (!isRefusal(seen)) return seen;
    fail({ ...seen, param: `${seen.param}s` }, closeCodes.forbidden);
    return undefined;
  }

  async function renew(token: string): Promise<void> {
    if (phase.name === "greeting") return;
    const { principal } = phase;
    const next = await introduced(token);
    if (isRefusal(next)) return fail(next, codeOf(next));
    if (
      next.world !== principal.world ||
      next.participantKind !== principal.participantKind ||
      next.participantId !== principal.participantId
    )
      return fail(refuse("apikey_invalid", { message: "The new token is another participant's." }), closeCodes.token);
    // The phase may have moved on while the token was looked up; only the token changes.
    const current = phase as Phase;
    if (current.name === "greeting") return;
    phase = { ...current, principal: next, token };
    attendance.signIn(next);
    const seen = lookFor(next, wish);
    // What the old token showed and the new one hides, or the other way round, no entry of the log would tell.
    if (seen && !isSameView(seen, view)) resync("scope");
  }

  socket.on("message", (data, isBinary) => {
    if (!frameBudget.tryRemoveTokens(1)) return fail(refuse("rate_limited"), closeCodes.tooManyFrames);
    turn = turn
      .then(() => receive(data as Buffer, isBinary))
      .catch(() => fail(refuse("unavailable"), closeCodes.restarting));
  });
  socket.on("close", () => {
    clearTimeout(helloTimer);
    leave();
    attendance.breakOff();
    seat.leave();
  });
  // Broken frames: the library closes with the standard's code; this keeps Node from throwing.
  socket.on("error", () => {});

  return {
    who: () => (phase.name === "greeting" ? undefined : whoIs(phase.principal, phase.clientId)),
    async check() {
      slowSince = socket.bufferedAmount < limits.frameBytes ? undefined : (slowSince ?? now());
      if (slowSince !== undefined && now() - slowSince > limits.slowReaderMs)
        return close(closeCodes.slowReader, "reads too slowly");
      const before = known();
      if (!before) return;
      const { token } = before;
      const principal = await authenticator.principalOf(token);
      // A fresh token may have taken its place meanwhile.
      const current = known();
      if (current && isRefusal(principal) && current.token === token) fail(principal, closeCodes.token);
    },
    close,
    revoke(tokenId) {
      if (known()?.principal.tokenId !== tokenId) return false;
      fail(refuse("token_revoked"), closeCodes.token);
      return true;
    },
  };
}

const whoIs = ({ world, participantKind, participantId }: Principal, clientId: string | null): Waiter => ({
  world,
  participant: participantName(participantKind, participantId),
  clientId,
});

interface Wish {
  readonly models: readonly string[] | undefined;
  readonly groups: readonly string[] | undefined;
}

const codeOf = ({ code }: Refusal): number => (code === "rate_limited" ? closeCodes.tooManyFrames : closeCodes.token);

/** Readers with the same view get the same bytes: the frame is built once for each piece of news. */
const frames = new WeakMap<News, Map<string, string>>();

function sharedFrame(view: View, news: News): string {
  let known = frames.get(news);
  if (!known) {
    known = new Map();
    frames.set(news, known);
  }
  const key = viewName(view);
  let frame = known.get(key);
  if (frame === undefined) {
    frame = entriesFrame(view, news);
    known.set(key, frame);
  }
  return frame;
}
