import type { CollabFrame } from "../core/collab/collab.ts";
import { canSend } from "../core/connection/auth.ts";
import type { Effect } from "../core/effects.ts";
import type { Happening } from "../core/events.ts";
import { wideScope } from "../core/log/loaded-parts.ts";
import type { Scope } from "../core/log/rows.ts";
import type { Removed } from "../core/queue/mutation.ts";
import type { Reply } from "../core/queue/outcome.ts";
import { reasonOf } from "../core/reason-of.ts";
import type { ClientState } from "../core/state.ts";
import type { TabMessage } from "../core/tabs/tab-message.ts";
import type { LogEntry } from "../protocol/log/log.ts";
import { closeCodes } from "../protocol/stream/close-codes.ts";
import type { FrameDown, ProposalsFrame } from "../protocol/stream/frames-down.ts";
import { askOwner } from "./ask-owner.ts";
import { chunksOf } from "./chunks.ts";
import type { Engine } from "./engine.ts";
import { withOmittedValues } from "./omitted-values.ts";
import { OutcomeLookup } from "./outcome-lookup.ts";
import type { PendingPromises } from "./pending-promises.ts";
import {
  type Clock,
  type Server,
  type Storage,
  type StoredPage,
  type Stream,
  type Tabs,
  type TokenSource,
  TokenUnreachable,
} from "./ports.ts";
import { QueueKeeper } from "./queue-keeper.ts";
import { RowKeeper } from "./row-keeper.ts";
import { SLEPT_MS, timeOf } from "./server-time.ts";
import { SnapshotReader } from "./snapshot-reader.ts";

const ABANDONED: Reply = { kind: "silence", timedOut: false, reason: "The request was abandoned before it was sent." };

/** The close code of a lost connection. */
export const LOST = 1006;

export interface PerformerDeps {
  readonly storage: Storage;
  readonly server: Server;
  readonly stream: Stream;
  readonly tabs: Tabs;
  readonly token: TokenSource;
  readonly waiters: PendingPromises;
  readonly clock: Clock;
  readonly persist?: (() => Promise<boolean>) | undefined;
}

/** The frames of claims, presence and proposals, for as long as the stream is open. */
export interface Frames {
  /** Returns a function that unsubscribes. */
  listen(listener: (frame: CollabFrame | ProposalsFrame) => void): () => void;
}

export interface Performer {
  perform(effect: Effect, state: ClientState): void;
  readonly frames: Frames;
  /** Resolves when no disk operation is pending. */
  stored(): Promise<void>;
  /** Aborts all requests, and resolves when pending disk operations are done. */
  close(): Promise<void>;
}

/** Performs the effects of the core, and dispatches their results. */
export function createPerformer(
  deps: PerformerDeps,
  dispatch: Engine["dispatch"],
  currentState: () => ClientState,
): Performer {
  const { storage, server, stream, tabs, token, waiters, clock } = deps;
  let requests = new AbortController();
  const pages = new SnapshotReader(server);
  const onDisk = new Set<Promise<void>>();
  const listeners = new Set<(frame: CollabFrame | ProposalsFrame) => void>();
  let nextToken: string | undefined;
  let helloAt = 0;
  let gathered: { readonly from: number; to: number; readonly entries: LogEntry[] } | undefined;
  const lookup = new OutcomeLookup(server, waiters, clock, {
    canRequest: () => canSend(currentState()),
    hasLostDisk: () => currentState().storageTrouble !== undefined,
    tokenRefused: (reason) => dispatch({ type: "tokenRefused", reason }),
  });

  function toDisk(work: () => Promise<void>): Promise<void> {
    const done = work().catch((error: unknown) =>
      dispatch({ type: "storageFailed", code: "failed", reason: reasonOf(error) }),
    );
    onDisk.add(done);
    void done.finally(() => onDisk.delete(done));
    return done;
  }

  async function stored(): Promise<void> {
    while (onDisk.size > 0) await Promise.all(onDisk);
  }

  /** A tab that has lost the disk shares nothing with the others. */
  const post = (message: TabMessage) => {
    const { storageTrouble, storeId } = currentState();
    if (storageTrouble === undefined) tabs.post({ ...message, storeId });
  };

  const queue = new QueueKeeper(storage, {
    state: currentState,
    toDisk,
    dispatch,
    post,
    saved: onceSaved(deps.persist, currentState, dispatch),
  });
  const rows = new RowKeeper(storage, {
    current: () => currentState().rows,
    toDisk,
    replaced: (other, scope) => post({ type: "rows", other, scope }),
    settled: (removed, kept) => queue.publish(kept, { removed }),
    fenced: (generation) => dispatch({ type: "fenced", generation }),
  });

  async function send(effect: Extract<Effect, { do: "send" }>): Promise<void> {
    const { request, names, body, first, generation } = effect;
    const { signal } = requests;
    const begunAt = clock.now();
    const isMarked = first.length === 0 || generation === undefined || (await queue.keep(first, generation));
    const reply =
      // After a sleep, the age of the writes is judged again.
      isMarked && !signal.aborted && clock.now() - begunAt < SLEPT_MS
        ? await withOmittedValues(await server.send(body, signal), server, signal)
        : ABANDONED;
    if (reply.kind === "answer" && reply.status === 200) post({ type: "answered", names, reply });
    dispatch({ type: "answered", request, names, reply });
  }

  async function readSnapshot(at: string | null, scope: Scope, limit: number): Promise<void> {
    const begunAt = clock.now();
    const read = await pages.read(at, scope, limit);
    if (read.kind !== "snapshot") return dispatch({ type: "readFailed", reply: read });
    const { kind: _, ...page } = read;
    // Later pages may have been read ahead.
    const serverTime = at === null ? timeOf(page, begunAt, clock) : undefined;
    dispatch({ type: "snapshotRead", ...page, serverTime, begin: at, scope });
  }

  /** A store that ends with its process needs no second copy of the rows. */
  function forget({
    settled,
    generation,
  }: {
    readonly settled: readonly Removed[];
    readonly generation: number;
  }): void {
    if (settled.length > 0) queue.forget(settled, generation);
  }

  function keepPage(page: StoredPage, generation: number): void {
    void toDisk(async () => {
      const kept = await storage.keepPage(page, generation);
      if (kept === "fenced") dispatch({ type: "fenced", generation });
      else if (kept === "gap") dispatch({ type: "pageLost" });
      else if (page.cursor === null) post({ type: "rows", other: false });
    });
  }

  async function readLog(after: number, scope: Scope, limit: number): Promise<void> {
    const begunAt = clock.now();
    const read = await server.readLog(after, requests.signal, wideScope(scope), limit);
    if (read.kind !== "log") return dispatch({ type: "readFailed", reply: read });
    const { kind: _, ...page } = read;
    dispatch({ type: "logRead", ...page, serverTime: timeOf(page, begunAt, clock), scope });
  }

  async function hello(effect: Extract<Effect, { do: "sendHello" }>, clientId: string): Promise<void> {
    try {
      const { logId, since, scope, parts, more, view } = effect;
      nextToken = undefined;
      helloAt = clock.now();
      stream.hello({ token: await token.current(), clientId, logId, since, scope, parts, more, view });
    } catch (error) {
      stream.close();
      const code = error instanceof TokenUnreachable ? LOST : closeCodes.token;
      dispatch({ type: "streamClosed", code, reason: reasonOf(error) });
    }
  }

  /** Uses the next token only after the server has accepted it, because it may belong to another participant. */
  async function renewToken(): Promise<void> {
    nextToken = await token.next().catch(() => undefined);
    if (nextToken === undefined) return dispatch({ type: "notRenewed" });
    stream.send({ frame: "auth", token: nextToken });
  }

  /** The log arrives in many small frames. Those of one task are one event, because each event has its own cost. */
  function gather({ from, to, entries }: Extract<FrameDown, { frame: "entries" }>): void {
    if (gathered?.to === from) {
      gathered.to = to;
      gathered.entries.push(...entries);
      return;
    }
    passOn();
    gathered = { from, to, entries: [...entries] };
    queueMicrotask(passOn);
  }

  function passOn(): void {
    const range = gathered;
    gathered = undefined;
    if (range) dispatch({ type: "entriesReceived", ...range });
  }

  function onFrame(frame: FrameDown): void {
    if (frame.frame === "entries") return gather(frame);
    passOn();
    if (frame.frame === "renewed" && nextToken !== undefined) token.use(nextToken);
    if (frame.frame === "welcome")
      return dispatch({ type: "welcomed", ...frame, serverTime: timeOf(frame, helloAt, clock) });
    dispatchFrame(frame, dispatch, (each) => {
      for (const listener of listeners) listener(each);
    });
  }

  async function requestToken(): Promise<void> {
    try {
      const next = await token.next();
      // In one synchronous block, so that no request uses a token that the core does not know of.
      if (next !== undefined) token.use(next);
      dispatch({ type: "tokenReceived", changed: next !== undefined });
    } catch (error) {
      dispatch({ type: "tokenFailed", reason: reasonOf(error), unreachable: error instanceof TokenUnreachable });
    }
  }

  async function identify(fresh: boolean): Promise<void> {
    const next = fresh ? await token.next().catch(() => undefined) : undefined;
    if (next !== undefined) {
      token.use(next);
      // Whose it is, only the answer shows: the tab may become the leader before.
      dispatch({ type: "tokenReceived", changed: true });
    }
    const answer = await askOwner(server, requests.signal, clock);
    if (answer.kind === "named")
      return dispatch({ type: "identified", owner: answer.owner, serverTime: answer.serverTime });
    dispatch({ type: "notIdentified" });
    if (answer.kind === "refused") dispatch({ type: "tokenRefused", reason: answer.reason });
  }

  function perform(effect: Effect, state: ClientState): void {
    switch (effect.do) {
      case "persist":
        return queue.persist(effect.changes);
      case "keep":
        return void queue.keep(effect.mutations, effect.generation);
      case "forget":
        return queue.forget(effect.settled, effect.generation);
      case "keepRows":
        if (state.inMemory) return forget(effect);
        return rows.keep(effect, effect.generation);
      case "keepSnapshot":
        if (state.inMemory) return forget(effect);
        return rows.keepAll(effect.settled, effect.generation, effect.other);
      case "takeLead":
        return queue.takeLead();
      case "campaign":
        return tabs.campaign(effect.wanted);
      case "readQueue":
        return queue.read(effect.rows);
      case "own":
        return void toDisk(async () =>
          dispatch({ type: "owned", owner: await storage.own(effect.owner, effect.instead) }),
        );
      case "keepRecordBytes":
        return void toDisk(() => storage.keepRecordBytes(effect.recordBytes));
      case "post":
        return post(effect.message);
      case "send":
        return void send(effect);
      case "readSnapshot":
        return void readSnapshot(effect.cursor, effect.scope, effect.limit);
      case "keepPage":
        if (state.inMemory) return;
        for (const piece of chunksOf(effect.page)) keepPage(piece, effect.generation);
        return;
      case "readLog":
        return void readLog(effect.after, effect.scope, effect.limit);
      case "openStream":
        return stream.open({
          opened: () => dispatch({ type: "streamOpened" }),
          frame: onFrame,
          closed: (code, reason) => {
            passOn();
            dispatch({ type: "streamClosed", code, reason });
          },
        });
      case "sendFrame":
        return stream.send(effect.frame);
      case "closeStream":
        gathered = undefined;
        return stream.close();
      case "sendHello":
        return void hello(effect, state.clientId);
      case "abort":
        pages.abort();
        requests.abort();
        requests = new AbortController();
        return;
      case "askOwner":
        return void identify(effect.fresh);
      case "renewToken":
        return void renewToken();
      case "requestToken":
        return void requestToken();
      case "notify":
        return waiters.notify(effect.clientTxId, effect.news);
      case "lookUpOutcomes":
        for (const name of queue.unknown(waiters.names())) lookup.begin(name);
        return;
    }
  }

  return {
    perform,
    stored,
    frames: {
      listen(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    close: async () => {
      pages.abort();
      requests.abort();
      lookup.close();
      stream.close();
      await stored();
    },
  };
}

/** When the first data is stored, asks the platform once to protect the store. Some browsers prompt the user. */
function onceSaved(
  persist: PerformerDeps["persist"],
  currentState: () => ClientState,
  dispatch: Engine["dispatch"],
): () => void {
  let hasRequested = false;
  return () => {
    if (hasRequested || !persist || currentState().storageTrouble !== undefined) return;
    hasRequested = true;
    Promise.resolve()
      .then(persist)
      .then(
        (granted) => dispatch({ type: "persistence", granted }),
        () => {},
      );
  };
}

function dispatchFrame(
  frame: Exclude<FrameDown, { readonly frame: "welcome" | "entries" }>,
  dispatch: (happening: Happening) => void,
  onFrame: (frame: CollabFrame | ProposalsFrame) => void,
): void {
  switch (frame.frame) {
    case "renewed":
      return dispatch({ type: "renewed", ...frame });
    case "schema":
      return dispatch({ type: "schemaPushed", models: frame.models });
    case "subscribed":
      return dispatch({ type: "partAnswered", id: frame.id, position: frame.position });
    case "refused":
      return dispatch({ type: "partAnswered", id: frame.id, position: 0 });
    case "unsubscribed":
      return dispatch({ type: "partsLeft", ids: frame.ids });
    case "resync":
      return dispatch({ type: "resyncRequested", reason: frame.reason });
    // No part is asked for with a position of its own, and calls take their answers themselves.
    case "partEntries":
    case "answer":
    case "pong":
      return;
    case "claims":
    case "claim":
    case "presence":
    case "proposals":
      return onFrame(frame);
    case "error":
      onFrame(frame);
      // The close code that follows decides what happens. The message is for people who read the console.
      return console.warn(`Holdfast: the stream answered ${frame.code}: ${frame.message}`);
    default:
      frame satisfies never;
  }
}
