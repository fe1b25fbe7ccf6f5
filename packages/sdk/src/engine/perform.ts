import type { CompanyFrame } from "../core/company.ts";
import type { Effect } from "../core/effects.ts";
import type { Happening } from "../core/events.ts";
import type { Mutation } from "../core/mutation.ts";
import { find } from "../core/queue.ts";
import type { Scope } from "../core/rows.ts";
import type { ClientState } from "../core/state.ts";
import type { TabMessage } from "../core/tab-message.ts";
import { adapted } from "../core/upcast.ts";
import { closeCodes, type FrameDown } from "../protocol/frames-down.ts";
import type { Engine } from "./engine.ts";
import { piecesOf } from "./pieces.ts";
import {
  type Fenced,
  type Server,
  type Storage,
  type StoredPage,
  type Stream,
  type Tabs,
  type TokenSource,
  TokenUnreachable,
} from "./ports.ts";
import { RowKeeper } from "./row-keeper.ts";
import type { Waiters } from "./waiters.ts";

/** How a socket ends whose line was cut. */
const LOST = 1006;

export interface World {
  readonly storage: Storage;
  readonly server: Server;
  readonly stream: Stream;
  readonly tabs: Tabs;
  readonly token: TokenSource;
  readonly waiters: Waiters;
  /** Hears what the stream says of others' and this client's claims, and of who is there. */
  readonly hear: (frame: CompanyFrame) => void;
  readonly persist?: (() => Promise<boolean>) | undefined;
}

export interface Performer {
  perform(effect: Effect, state: ClientState): void;
  /** Gives up all requests, and resolves when what was on its way to the disk is there. */
  close(): Promise<void>;
}

/** Does what the core asks, and tells it what came of that. */
export function createPerformer(
  world: World,
  dispatch: Engine["dispatch"],
  currentState: () => ClientState,
): Performer {
  const { storage, server, stream, tabs, token, waiters } = world;
  let requests = new AbortController();
  const onDisk = new Set<Promise<void>>();
  let saving: Mutation[] = [];
  let hasAsked = false;

  function toDisk(work: () => Promise<void>): void {
    const done = work().catch((error: unknown) =>
      dispatch({ type: "storageFailed", code: "failed", reason: reasonOf(error) }),
    );
    onDisk.add(done);
    void done.finally(() => onDisk.delete(done));
  }

  /** Of what another tab's lead has made void the core is told. */
  const unlessDeposed = (generation: number, work: () => Promise<Fenced>) =>
    toDisk(async () => {
      if ((await work()) === "deposed") dispatch({ type: "deposed", generation });
    });

  /** Whoever has lost the disk shares nothing with the others. */
  const post = (message: TabMessage) => {
    if (currentState().storageTrouble === undefined) tabs.post(message);
  };

  const rows = new RowKeeper(storage, {
    current: () => currentState().rows,
    toDisk,
    replaced: () => post({ type: "rows" }),
    deposed: (generation) => dispatch({ type: "deposed", generation }),
  });

  /** All writes of one moment go to the disk in one transaction, in the order in which they were made. */
  function persist(mutations: readonly Mutation[]): void {
    saving.push(...mutations);
    if (saving.length > mutations.length) return;
    toDisk(async () => {
      await Promise.resolve();
      const batch = saving;
      saving = [];
      if (currentState().lead === "no") post({ type: "writing", clientTxIds: batch.map((m) => m.clientTxId) });
      const places = await storage.enqueue(batch);
      const seqs = new Map(places.map(({ clientTxId, seq }) => [clientTxId, seq]));
      const { queue, tabs: others } = currentState();
      const stored = batch.map((m): Mutation => {
        // Found on disk and sent before this was known to be there, it may have its answer, which the others did not take.
        const { stage } = find(queue, m.clientTxId) ?? m;
        const isUnderWay = stage.phase === "saving" || stage.phase === "sending";
        return { ...m, seq: seqs.get(m.clientTxId), stage: isUnderWay ? { phase: "queued" } : stage };
      });
      post({ type: "arrived", mutations: stored.filter((m) => !others.left.includes(m.clientTxId)) });
      dispatch({ type: "persisted", places });
      askToKeep();
    });
  }

  /** Once, and when there is something to keep: some browsers ask the person. */
  function askToKeep(): void {
    const { persist } = world;
    if (hasAsked || !persist || currentState().storageTrouble !== undefined) return;
    hasAsked = true;
    persist().then(
      (granted) => dispatch({ type: "persistence", granted }),
      () => {},
    );
  }

  async function takeLead(): Promise<void> {
    const { generation, mutations } = await storage.lead();
    dispatch((state) => {
      // What another tab has put there under one's eyes is as that tab means it; what was found is as old as it may be.
      const isFound = (m: Mutation) =>
        (find(state.queue, m.clientTxId)?.schema ?? state.schemaHash) === state.schemaHash;
      const found = mutations.map((m) => (isFound(m) ? adapted(m, state) : m));
      return { type: "tookLead", generation, mutations: found };
    });
  }

  async function send(effect: Extract<Effect, { do: "send" }>): Promise<void> {
    const { request, names, body } = effect;
    const reply = await server.send(body, requests.signal);
    if (reply.kind === "answer" && reply.status === 200) post({ type: "answered", names, reply });
    dispatch({ type: "answered", request, names, reply });
  }

  async function readSnapshot(at: string | null, scope: Scope): Promise<void> {
    const read = await server.readSnapshot(at, requests.signal, scope);
    if (read.kind !== "snapshot") return dispatch({ type: "readFailed", reply: read });
    const { logId, stamp, lines, cursor } = read;
    dispatch({ type: "snapshotRead", logId, stamp, lines, cursor, scope });
  }

  function keepPage(page: StoredPage, generation: number): void {
    toDisk(async () => {
      const kept = await storage.keepPage(page, generation);
      if (kept === "deposed") dispatch({ type: "deposed", generation });
      else if (kept === "gap") dispatch({ type: "pageLost" });
      else if (page.cursor === null) post({ type: "rows" });
    });
  }

  async function readLog(after: number, scope: Scope): Promise<void> {
    const read = await server.readLog(after, requests.signal, scope);
    if (read.kind !== "log") return dispatch({ type: "readFailed", reply: read });
    const { logId, stamp, from, to, entries } = read;
    dispatch({ type: "logRead", logId, stamp, from, to, entries });
  }

  async function hello(effect: Extract<Effect, { do: "sayHello" }>, clientId: string): Promise<void> {
    try {
      const { logId, since, scope } = effect;
      stream.hello({ token: await token.current(), clientId, logId, since, scope });
    } catch (error) {
      stream.close();
      const code = error instanceof TokenUnreachable ? LOST : closeCodes.token;
      dispatch({ type: "streamClosed", code, reason: reasonOf(error) });
    }
  }

  async function askToken(): Promise<void> {
    try {
      const { changed } = await token.renew();
      dispatch({ type: "tokenCame", changed });
    } catch (error) {
      dispatch({ type: "tokenFailed", reason: reasonOf(error), unreachable: error instanceof TokenUnreachable });
    }
  }

  function perform(effect: Effect, state: ClientState): void {
    switch (effect.do) {
      case "persist":
        return persist(effect.mutations);
      case "keep":
        return unlessDeposed(effect.generation, () => storage.keep(effect.mutations, effect.generation));
      case "forget": {
        const { places, generation } = effect;
        if (places.length === 0) return;
        if (generation === undefined) return toDisk(async () => void (await storage.forget(places)));
        return unlessDeposed(generation, () => storage.forget(places, generation));
      }
      case "keepRows":
        return rows.keep(effect, effect.generation);
      case "keepSnapshot":
        return rows.keepAll(effect.settled, effect.generation);
      case "takeLead":
        return toDisk(takeLead);
      case "stand":
        return tabs.stand(effect.wanted);
      case "readRows":
        return toDisk(async () => dispatch({ type: "rowsRead", rows: await storage.readRows() }));
      case "own":
        return toDisk(async () => dispatch({ type: "owned", owner: await storage.own(effect.participant) }));
      case "post":
        return post(effect.message);
      case "send":
        return void send(effect);
      case "readSnapshot":
        return void readSnapshot(effect.cursor, effect.scope);
      case "keepPage":
        for (const piece of piecesOf(effect.page)) keepPage(piece, effect.generation);
        return;
      case "readLog":
        return void readLog(effect.after, effect.scope);
      case "openStream":
        return stream.open({
          opened: () => dispatch({ type: "streamOpened" }),
          frame: (frame) => hearFrame(frame, dispatch, world.hear),
          closed: (code, reason) => dispatch({ type: "streamClosed", code, reason }),
        });
      case "closeStream":
        return stream.close();
      case "sayHello":
        return void hello(effect, state.clientId);
      case "abort":
        requests.abort();
        requests = new AbortController();
        return;
      case "askToken":
        return void askToken();
      case "tell":
        return waiters.tell(effect.clientTxId, effect.news);
    }
  }

  return {
    perform,
    close: async () => {
      requests.abort();
      stream.close();
      while (onDisk.size > 0) await Promise.all(onDisk);
    },
  };
}

function hearFrame(
  frame: FrameDown,
  dispatch: (happening: Happening) => void,
  hear: (frame: CompanyFrame) => void,
): void {
  switch (frame.frame) {
    case "welcome":
      return dispatch({
        type: "welcomed",
        logId: frame.logId,
        stamp: frame.stamp,
        participant: frame.participant,
        session: frame.session,
      });
    case "entries":
      return dispatch({ type: "entriesCame", from: frame.from, to: frame.to, entries: frame.entries });
    case "resync":
      return dispatch({ type: "resyncAsked", reason: frame.reason });
    case "pong":
    case "schema":
      return;
    case "claims":
    case "claim":
    case "presence":
      return hear(frame);
    case "error":
      hear(frame);
      // The close that follows it carries the code that decides; the words are for people who read the console.
      return console.warn(`Holdfast: the stream answered ${frame.code}: ${frame.message}`);
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
