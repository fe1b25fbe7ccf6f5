import { mayGo } from "../core/auth.ts";
import type { CompanyFrame } from "../core/company.ts";
import type { Effect, WhichRows } from "../core/effects.ts";
import type { Happening } from "../core/events.ts";
import { asKept, type Gone, type Mutation, type Put, type QueueChange } from "../core/mutation.ts";
import { find } from "../core/queue.ts";
import type { Scope } from "../core/rows.ts";
import type { ClientState } from "../core/state.ts";
import type { TabMessage } from "../core/tab-message.ts";
import { adapted, shownAs } from "../core/upcast.ts";
import { closeCodes, type FrameDown } from "../protocol/frames-down.ts";
import type { Engine } from "./engine.ts";
import { Inquiry } from "./inquiry.ts";
import { piecesOf } from "./pieces.ts";
import {
  type Clock,
  type Kept,
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
  readonly clock: Clock;
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
  const { storage, server, stream, tabs, token, waiters, clock } = world;
  let requests = new AbortController();
  const onDisk = new Set<Promise<void>>();
  let saving: QueueChange[] = [];
  const inquiry = new Inquiry(server, waiters, clock, {
    mayAsk: () => mayGo(currentState()),
    tokenRefused: (reason) => dispatch({ type: "tokenRefused", reason }),
  });
  /** Writes whose place is being given to another: whether they are over is known when that is done. */
  const givenAway = new Set<string>();
  let hasAsked = false;

  function toDisk(work: () => Promise<void>): void {
    const done = work().catch((error: unknown) =>
      dispatch({ type: "storageFailed", code: "failed", reason: reasonOf(error) }),
    );
    onDisk.add(done);
    void done.finally(() => onDisk.delete(done));
  }

  /** Tells the other tabs how the queue on disk was changed, or the core that another tab's lead has made that void. */
  function changeQueue(
    generation: number,
    work: () => Promise<Kept | "deposed">,
    how: { put?: readonly Put[]; gone?: readonly Gone[] },
  ): void {
    toDisk(async () => {
      const kept = await work();
      if (kept === "deposed") dispatch({ type: "deposed", generation });
      else tellChange(kept, how);
    });
  }

  function tellChange(
    { change }: Kept,
    { put = [], gone = [] }: { put?: readonly Put[]; gone?: readonly Gone[] },
  ): void {
    if (change === undefined) return;
    post({ type: "changed", change, put, gone });
    // What was put is here already, perhaps further by now.
    dispatch({ type: "changed", change, put: [], gone });
  }

  /** Whoever has lost the disk shares nothing with the others. */
  const post = (message: TabMessage) => {
    if (currentState().storageTrouble === undefined) tabs.post(message);
  };

  const rows = new RowKeeper(storage, {
    current: () => currentState().rows,
    toDisk,
    replaced: (other) => post({ type: "rows", other }),
    settled: (gone, kept) => tellChange(kept, { gone }),
    deposed: (generation) => dispatch({ type: "deposed", generation }),
  });

  /** All changes of one moment go to the disk in one transaction, in the order in which they were made. */
  function persist(changes: readonly QueueChange[]): void {
    saving.push(...changes);
    if (saving.length > changes.length) return;
    toDisk(async () => {
      await Promise.resolve();
      const batch = saving;
      saving = [];
      const names = batch.flatMap(({ put }) => put.map(({ mutation }) => mutation.clientTxId));
      const { lead, tabs: others } = currentState();
      if (names.length > 0 && (lead === "no" || others.listening)) post({ type: "writing", clientTxIds: names });
      const over = batch.flatMap(({ put }) => put.flatMap((each) => each.over?.clientTxId ?? []));
      for (const name of over) givenAway.add(name);
      const { places, change } = await storage.enqueue(batch);
      for (const name of over) givenAway.delete(name);
      const done = batch.flatMap((each, i) => placed(each, places[i]) ?? []);
      const refused = batch.filter((_, i) => places[i] === "refused");
      tellOthers(done, change);
      dispatch({ type: "persisted", done, refused, change });
      askToKeep();
    });
  }

  function tellOthers(done: readonly QueueChange[], change: number | undefined): void {
    const put = done.flatMap((each) => each.put);
    const mutations = put.flatMap(({ mutation, over }) => (over ? [] : [mutation]));
    if (mutations.length > 0) post({ type: "arrived", mutations });
    if (change === undefined) return;
    post({ type: "changed", change, put: put.filter(({ over }) => over), gone: done.flatMap(({ drop }) => drop) });
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
    const { generation, look } = await storage.lead(seen("further"));
    dispatch((state) => {
      const mutations = look.mutations.map((m) => adapted(m, state));
      const brought = mutations.filter((m, i) => m !== look.mutations[i]);
      return { type: "tookLead", generation, look: { ...look, mutations }, brought };
    });
  }

  async function look(rows: WhichRows): Promise<void> {
    const found = await storage.look(seen(rows));
    dispatch((state) => {
      const mutations = found.mutations.map((m) => shownAs(adapted(m, state), m));
      return { type: "looked", look: { ...found, mutations }, rows };
    });
  }

  function inquire({ queue }: ClientState): void {
    for (const name of waiters.names()) if (!find(queue, name) && !givenAway.has(name)) inquiry.begin(name);
  }

  const seen = (rows: WhichRows) => (rows === "further" ? currentState().rows : undefined);

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
    dispatch({ type: "snapshotRead", logId, stamp, lines, cursor, begin: at, scope });
  }

  function keepPage(page: StoredPage, generation: number): void {
    toDisk(async () => {
      const kept = await storage.keepPage(page, generation);
      if (kept === "deposed") dispatch({ type: "deposed", generation });
      else if (kept === "gap") dispatch({ type: "pageLost" });
      else if (page.cursor === null) post({ type: "rows", other: false });
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
        return persist(effect.changes);
      case "keep": {
        const { mutations, generation } = effect;
        const put = mutations.filter((m) => m.seq !== undefined).map((mutation) => ({ mutation: asKept(mutation) }));
        return changeQueue(generation, () => storage.keep(mutations, generation), { put });
      }
      case "forget": {
        const { settled, generation } = effect;
        return changeQueue(generation, () => storage.forget(settled, generation), { gone: settled });
      }
      case "keepRows":
        return rows.keep(effect, effect.generation);
      case "keepSnapshot":
        return rows.keepAll(effect.settled, effect.generation, effect.other);
      case "takeLead":
        return toDisk(takeLead);
      case "stand":
        return tabs.stand(effect.wanted);
      case "look":
        return toDisk(() => look(effect.rows));
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
      case "inquire":
        return inquire(state);
    }
  }

  return {
    perform,
    close: async () => {
      requests.abort();
      inquiry.close();
      stream.close();
      while (onDisk.size > 0) await Promise.all(onDisk);
    },
  };
}

/** With the places that its new writes were given. Undefined: it came too late. */
function placed(
  { put, drop }: QueueChange,
  places: readonly number[] | "refused" | undefined,
): QueueChange | undefined {
  if (places === undefined || places === "refused") return undefined;
  const there = put.map(({ mutation, over }, i): Put => {
    const onDisk: Mutation = { ...mutation, seq: places[i], stage: { phase: "queued" } };
    return { mutation: onDisk, over };
  });
  return { put: there, drop };
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
