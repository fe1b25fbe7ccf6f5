import { awaitsRows } from "../core/claims/claim-grant.ts";
import type { ClaimNews, Instant, RequestKind } from "../core/claims/claim-state.ts";
import {
  type CollabConnection,
  type CollabEffect,
  type CollabHappening,
  type CollabState,
  collabDueAt,
  collabStep,
  emptyCollab,
} from "../core/collab/collab.ts";
import { canSend } from "../core/connection/auth.ts";
import type { Happening } from "../core/events.ts";
import type { ClientState } from "../core/state.ts";
import { clientLimits as limits } from "../protocol/client-limits.ts";
import type { ClientEndpointName } from "../protocol/client-paths.ts";
import type { Engine } from "./engine.ts";
import type { createEventLoop } from "./event-loop.ts";
import type { Frames } from "./performer.ts";
import type { Asked, Clock, Random, Server, Stream } from "./ports.ts";

/** What the loop for claims and presence shares with the client's engine. */
export interface CollabEngineDeps {
  readonly engine: Engine;
  readonly server: Server;
  readonly stream: Stream;
  /** The frames of claims and presence. */
  readonly frames: Frames;
  readonly clock: Clock;
  readonly random: Random;
  /** Handed over, because a chunk that imports it would split the code that is loaded at once. */
  readonly createEventLoop: typeof createEventLoop;
}

export interface CollabEngine {
  state(): CollabState;
  now(): Instant;
  dispatch(happening: CollabHappening): void;
  /** Notifies of every change. Returns a function that unsubscribes. */
  subscribe(listener: (state: CollabState, before: CollabState) => void): () => void;
  /** Releases all claims, and waits a moment for the server to confirm that. */
  close(): Promise<void>;
}

type Request = Extract<CollabEffect, { do: "request" }>;

/** How long a closing client waits for the confirmation that its claims are released. */
const RELEASE_MS = 2_000;

/** The event loop of claims and presence. It also handles the events of the client's engine. */
export function createCollabEngine(
  { engine, server, stream, frames, clock, random, createEventLoop: loopOf }: CollabEngineDeps,
  notifyLease: (lease: string, news: ClaimNews) => void,
): CollabEngine {
  const now = (): Instant => ({ at: Math.floor(clock.monotonic()), wall: clock.now() });
  const flights = new Map<number, AbortController>();
  const releases = new Set<Promise<unknown>>();
  const loop = loopOf<CollabState, CollabHappening, CollabEffect, Instant>({
    initial: emptyCollab,
    step: (state, event, at) => {
      const readTo = engine.store.getState().rows.position ?? 0;
      return collabStep(state, { ...event, now: at, roll: random.roll(), readTo });
    },
    perform,
    timeOf: now,
    dueAt: collabDueAt,
    due: () => ({ type: "due" }),
    waitUntil: (at, then) => clock.wait(Math.max(0, at - clock.monotonic()), then),
  });
  const { dispatch } = loop;
  const state = loop.store.getState;

  function perform(effect: CollabEffect): void {
    switch (effect.do) {
      case "sendFrame":
        return stream.send(effect.frame);
      case "notifyLease":
        return notifyLease(effect.lease, effect.news);
      case "tokenRefused":
        return engine.dispatch({ type: "tokenRefused", reason: effect.reason });
      case "readUpTo":
        return engine.dispatch({ type: "positionKnown", position: effect.syncId });
      case "drop":
        flights.get(effect.n)?.abort();
        return void flights.delete(effect.n);
      case "request":
        return sendRequest(effect);
    }
  }

  function sendRequest(request: Request): void {
    const { key, n, what, timeoutMs, keepalive = false } = request;
    const flight = new AbortController();
    flights.set(n, flight);
    const [name, options] = endpointOf(request, state().connection.clientId);
    const done = server.request(name, { ...options, timeoutMs, keepalive }, flight.signal).then((reply) => {
      flights.delete(n);
      dispatch({ type: "answered", key, n, reply });
    });
    if (what !== "release") return;
    releases.add(done);
    void done.finally(() => releases.delete(done));
  }

  function onClientEvent(happening: Happening): void {
    // Handle the close code before the connection state: it shows what not to request again.
    if (happening.type === "streamClosed") dispatch({ type: "connectionClosed", code: happening.code });
    updateConnection();
    if (awaitsRows(state().holds.values())) dispatch({ type: "due" });
    if (happening.type === "woke") dispatch({ type: "woke" });
    if (happening.type === "hidden") dispatch({ type: "away", reason: "hidden" });
  }

  function updateConnection(): void {
    const connection = connectionOf(engine.store.getState());
    const before = state().connection;
    const keys = Object.keys(connection) as (keyof CollabConnection)[];
    if (keys.some((key) => connection[key] !== before[key])) dispatch({ type: "connection", connection });
  }

  const unsubscribes = [
    engine.listen(onClientEvent),
    frames.listen((frame) => {
      if (frame.frame !== "proposals") dispatch({ type: "received", frame });
    }),
  ];
  updateConnection();

  return {
    state,
    now,
    dispatch,
    subscribe: loop.store.subscribe,
    async close() {
      for (const unsubscribe of unsubscribes) unsubscribe();
      dispatch({ type: "away", reason: "closed" });
      loop.close();
      let cancelTimeout = () => {};
      const timeout = new Promise<void>((resolve) => {
        cancelTimeout = clock.wait(RELEASE_MS, resolve);
      });
      await Promise.race([Promise.all(releases), timeout]);
      cancelTimeout();
      for (const flight of flights.values()) flight.abort();
    },
  };
}

const connectionOf = (state: ClientState): CollabConnection => ({
  canRequest: state.life === "running" && canSend(state),
  live: state.stream.phase === "live",
  clientId: state.clientId,
  participant: state.self?.participant,
  session: state.self?.session,
});

function endpointOf({ what, target, claimId, body }: Request, clientId: string): readonly [ClientEndpointName, Asked] {
  const { model, id } = target;
  const claim = { params: { id: claimId ?? "" } };
  const names: Record<RequestKind, readonly [ClientEndpointName, Asked]> = {
    acquire: ["acquireClaim", { params: { model, id }, ...(body && { body }) }],
    renew: ["renewClaim", claim],
    poll: ["readClaim", { ...claim, query: { wait: String(limits.claimWaitMs) } }],
    release:
      claimId === undefined
        ? // Claims that this participant holds on other devices stay.
          ["releaseRecord", { params: { model, id }, ...(clientId && { query: { client_id: clientId } }) }]
        : ["releaseClaim", claim],
  };
  return names[what];
}
