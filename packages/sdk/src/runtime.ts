import { type Blame, readBlame } from "./api/facts/blame.ts";
import { rowFacts } from "./api/facts/row-facts.ts";
import { listQuery } from "./api/lists/list-query.ts";
import { queryStatus } from "./api/lists/query-status.ts";
import type { ShownRows } from "./api/lists/shown-rows.ts";
import { ValueIndexes } from "./api/lists/value-indexes.ts";
import { Loads } from "./api/loading/loads.ts";
import { decideProposal } from "./api/proposals/decide-proposal.ts";
import { liveProposals } from "./api/proposals/live-proposals.ts";
import type { ProposalCode } from "./api/proposals/proposals.ts";
import type { Ending } from "./api/shutdown.ts";
import { decisionItems } from "./api/writes/decision-items.ts";
import { judgeCommit } from "./api/writes/judge-commit.ts";
import { checkId } from "./api/writes/payload.ts";
import { exportPending, type PendingExport, readExport } from "./api/writes/pending-export.ts";
import { seenRecords } from "./api/writes/seen-before.ts";
import { undoOf } from "./api/writes/undo.ts";
import type { LaterCode } from "./api/writes/write.ts";
import { alone } from "./browser/tabs.ts";
import type { MergeText } from "./core/conflicts/plan-merge.ts";
import { namedOwner } from "./core/connection/same-owner.ts";
import { tableOf } from "./core/log/tables.ts";
import type { ClientState } from "./core/state.ts";
import { machineWith } from "./core/step.ts";
import { type OpenStore, storeOf } from "./engine/choose-store.ts";
import type { Engine } from "./engine/engine.ts";
import { knownOwner } from "./engine/known-owner.ts";
import { lateStorage, lateTabs } from "./engine/late-ports.ts";
import type { PendingPromises } from "./engine/pending-promises.ts";
import { createPerformer, type Frames, LOST } from "./engine/performer.ts";
import type {
  Clock,
  EvictionMarker,
  Random,
  Server,
  Signals,
  Storage,
  Stream,
  Tabs,
  TokenSource,
} from "./engine/ports.ts";
import { watchQueue } from "./engine/queue-watcher.ts";
import { restore } from "./engine/restore.ts";
import { timeOf } from "./engine/server-time.ts";
import type { Settings } from "./options.ts";
import type { ModelSchema } from "./protocol/schema/model-schema.ts";
import { withMemoryFallback } from "./storage/fallback.ts";
import type { Exchange } from "./transport/exchange.ts";
import { httpServer } from "./transport/http.ts";
import { kyExchange } from "./transport/ky-exchange.ts";
import { SaidSchema } from "./transport/said-schema.ts";
import { logStream } from "./transport/stream.ts";
import { type StreamCalls, streamFirst } from "./transport/stream-calls.ts";
import { tokenSource } from "./transport/token.ts";

/** The environment of a client: the parts that differ between a browser, a Node process and a test. */
export interface Ports {
  readonly storage: (store: string) => Promise<Storage>;
  readonly tabs: (store: string) => Tabs;
  readonly signals: () => Signals;
  /** Asks the platform to protect the store from eviction. */
  readonly persist?: () => Promise<boolean>;
  readonly evictionMarker?: (store: string) => EvictionMarker | undefined;
  /** For platforms without their own WebSocket. */
  readonly WebSocket?: unknown;
  /** How requests are sent. Default: ky. */
  readonly exchange?: Exchange;
  /** A replacement for the platform's fetch, used through ky. */
  readonly fetch?: typeof globalThis.fetch;
  /** For tests: replacements for HTTP and the socket. */
  readonly server?: (token: TokenSource) => Server;
  readonly stream?: () => Stream;
  /** Loads the code that merges texts, if the schema has fields for that. */
  readonly merging: () => Promise<{ readonly mergeText: MergeText }>;
}

/** What the runtime gets from its client. */
export interface RuntimeDeps {
  readonly settings: Settings<ModelSchema>;
  readonly engine: Engine;
  readonly ending: Ending;
  /** How the app's lists show rows. */
  readonly shown: ShownRows;
  readonly waiters: PendingPromises;
  readonly clock: Clock;
  readonly random: Random;
}

/** Why a client ends. `signed-out`: nothing of it may stay on this device. */
export type Leaving = "closed" | "signed-out" | "signed-out-elsewhere";

/**
 * The part of a client that works with disk, tabs and server. It is separate from the view and the decisions, so that a
 * page can load it after it has rendered.
 */
export interface Runtime extends LaterCode, ProposalCode {
  readonly server: Server;
  readonly stream: Stream;
  readonly frames: Frames;
  /** Gives rows what the server knows of them. */
  readonly facts: ShownRows;
  /** Conflicts and rejected writes. */
  readonly decisionItems: typeof decisionItems;
  readonly queryStatus: typeof queryStatus;
  readonly indexes: ValueIndexes;
  /** Who set the fields of a record last. */
  blame(model: string, id: string): Promise<Blame>;
  exportPending(exported: () => ClientState): Promise<PendingExport>;
  readonly readExport: typeof readExport;
  readonly loads: Loads;
  /**
   * The client is about to close. Other tabs are notified that the store is being deleted before one of them becomes
   * leader.
   */
  leave(why: Leaving): void;
  /** Resolves when pending writes are stored, or the store is deleted, and all connections are closed. */
  close(collabClosed: Promise<void> | undefined, why: Leaving): Promise<void>;
}

type OwnStorage = ReturnType<typeof withMemoryFallback>;

export function openRuntime(
  ports: Ports,
  { settings, engine, ending, shown, waiters, clock, random }: RuntimeDeps,
): Runtime {
  const { store, url, requestTimeoutMs: timeoutMs, schema, clientId } = settings;
  const token = tokenSource(settings.getToken, clock);
  const storage = lateStorage<OwnStorage>();
  const tabs = lateTabs();
  const signals = ports.signals();
  const names = Object.keys(schema.models);
  const said = new SaidSchema(schema.models);
  const merging = hasTexts(schema) ? ports.merging : undefined;
  const { fetch, WebSocket } = ports;
  const stream: Stream & Partial<Pick<StreamCalls, "call">> =
    ports.stream?.() ?? logStream({ url, clock, models: names, schema: said, WebSocket });
  // An app that gives its own `fetch` sees all requests in it.
  const exchange = fetch ? kyExchange(fetch) : streamFirst(stream, ports.exchange ?? kyExchange());
  const server = ports.server?.(token) ?? httpServer({ url, token, timeoutMs, models: names, exchange, schema: said });
  const performer = createPerformer(
    { storage, tabs, token, waiters, server, stream, clock, persist: ports.persist },
    engine.dispatch,
    engine.store.getState,
  );
  engine.become(machineWith(merging ? "loading" : undefined), performer.perform);
  // Without the code, a person decides.
  void merging?.().then(
    ({ mergeText }) => engine.become(machineWith(mergeText), performer.perform),
    () => engine.become(machineWith(undefined), performer.perform),
  );
  const closing = new AbortController();
  let noted: { readonly marker: EvictionMarker; readonly stop: () => void } | undefined;

  const openStore: OpenStore<OwnStorage> = async (name) => {
    const opened = withMemoryFallback(
      () => ports.storage(name),
      (trouble) => engine.dispatch({ type: "storageFailed", ...trouble }),
    );
    const fresh = random.id();
    const stored = await opened.open(fresh);
    return { name, storage: opened, stored, isNew: stored.clientId === fresh };
  };

  /** Finds out whose tab this is, opens the store of that owner, and joins the tabs of that store. */
  async function start(): Promise<void> {
    // Before any connection: if the platform reports no network, do not start one.
    signals.start({
      network: (up) => engine.dispatch({ type: "network", up }),
      woke: () => engine.dispatch({ type: "woke" }),
      hidden: () => engine.dispatch({ type: "hidden" }),
    });
    const plain = openStore(store);
    const areShared = ports.tabs !== alone;
    const named = settings.owner && namedOwner(settings.owner);
    const asked =
      named === undefined && areShared
        ? await knownOwner({ engine, server, token, clock, closing: closing.signal, plain })
        : "unknown";
    if (asked === "closing") {
      // Whose writes these are is not known, so they go into no store.
      storage.become((await plain).storage);
      return;
    }
    const known = asked === "unknown" ? undefined : asked;
    const tokenOwner = known?.owner;
    const owner = tokenOwner ?? named;
    const found = owner === undefined ? await plain : await storeOf(owner, await plain, openStore);
    const evictionMarker = ports.evictionMarker?.(found.name);
    if (evictionMarker) noted = { marker: evictionMarker, stop: watchQueue(engine, evictionMarker, clock) };
    storage.become(found.storage);
    tabs.become(ports.tabs(found.name));
    restore({
      store: found,
      tabs,
      engine,
      clientId,
      evictionMarker,
      named,
      tokenOwner,
      // To open the store may have taken a while.
      serverTime: known && timeOf(known, known.answeredAt, clock),
      areShared,
      schema: said.own,
      otherSchema,
    });
  }

  /** Tabs share rows, so they cannot have names of their own. From now on all of them have the current ones. */
  function otherSchema(): void {
    if (said.now === undefined) return;
    said.now = undefined;
    stream.close();
    engine.dispatch({ type: "streamClosed", code: LOST, reason: "A tab with another version of the app was opened." });
  }

  const restored = start();
  const { models } = engine.store.getState();
  return {
    server,
    stream,
    frames: performer.frames,
    facts: rowFacts(engine.store.getState),
    decisionItems,
    queryStatus,
    indexes: new ValueIndexes(models, (table) => listQuery(table, { archived: "with" }, models[table], shown)),
    async exportPending(exported) {
      // A write that is being stored has its slot then, so that it can be marked there.
      await performer.stored();
      engine.dispatch({ type: "exported" });
      await performer.stored();
      return exportPending(exported(), clock.now());
    },
    readExport,
    blame: (model, id) => {
      const fields = Object.keys(models[tableOf(model)]?.fields ?? {}).filter((field) => field !== "id");
      return readBlame({ server, engine }, { model, id: checkId(id), fields }, closing.signal);
    },
    proposals: liveProposals({ engine, server, stream, frames: performer.frames, clock, closing: closing.signal }),
    decideProposal,
    loads: new Loads({ engine, ending, settings }),
    undoOf,
    judgeCommit,
    seen: seenRecords(),
    leave(why) {
      if (why === "signed-out") tabs.post({ type: "signedOut" });
      if (why === "signed-out-elsewhere") storage.chosen()?.detach();
    },
    async close(collabClosed, why) {
      closing.abort();
      await restored;
      noted?.stop();
      signals.close();
      await Promise.all([performer.close(), collabClosed]);
      token.close();
      // After the last write is on disk and the other tabs were notified.
      tabs.close();
      // The tab that signs out and the tabs that it notifies may both do this; the result is the same.
      if (why !== "closed") noted?.marker.forget();
      await (why === "signed-out" ? storage.destroy() : storage.close());
    },
  };
}

const hasTexts = ({ models }: ModelSchema): boolean =>
  Object.values(models).some(({ fields }) => Object.values(fields).some(({ merge }) => merge !== undefined));
