import { exportPending, readExport } from "./api/writes/pending-export.ts";
import { waitingFor } from "./api/writes/waiting-for.ts";
import type { CollabFrame } from "./core/collab/collab.ts";
import type { Effect } from "./core/effects.ts";
import type { ClientState } from "./core/state.ts";
import { machine } from "./core/step.ts";
import type { Engine } from "./engine/engine.ts";
import type { PendingPromises } from "./engine/pending-promises.ts";
import { createPerformer } from "./engine/performer.ts";
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
import type { Settings } from "./options.ts";
import type { ModelSchema } from "./protocol/schema/model-schema.ts";
import { withMemoryFallback } from "./storage/fallback.ts";
import type { Exchange } from "./transport/exchange.ts";
import { httpServer } from "./transport/http.ts";
import { kyExchange } from "./transport/ky-exchange.ts";
import { logStream } from "./transport/stream.ts";
import { tokenSource } from "./transport/token.ts";

/** The world that a client works in: what differs between a browser, a Node process and a test. */
export interface Ports {
  readonly storage: (store: string) => Promise<Storage>;
  readonly tabs: (store: string) => Tabs;
  readonly signals: () => Signals;
  /** Asks the platform to keep the store whatever it needs the room for. */
  readonly persist?: () => Promise<boolean>;
  readonly witness?: (store: string) => EvictionMarker | undefined;
  /** Where the platform has none of its own. */
  readonly WebSocket?: unknown;
  /** How requests go out. Default: with ky. */
  readonly exchange?: Exchange;
  /** Used, through ky, instead of the platform's. */
  readonly fetch?: typeof globalThis.fetch;
  /** For tests: other ways to the server than HTTP and a socket. */
  readonly server?: (token: TokenSource) => Server;
  readonly stream?: () => Stream;
}

/** What the part is given of the client that it belongs to. */
export interface RuntimeDeps {
  readonly settings: Settings<ModelSchema>;
  readonly engine: Engine;
  readonly waiters: PendingPromises;
  readonly clock: Clock;
  readonly random: Random;
  readonly hear: (frame: CollabFrame) => void;
}

/** Why a client ends. `signed-out`: nothing of it is to stay on this device. */
export type Leaving = "closed" | "signed-out" | "signed-out-elsewhere";

/**
 * The part of a client that works with the world: the disk, the other tabs, the server. What is shown and decided is
 * elsewhere, so a page can have this one loaded after it has begun to show something.
 */
export interface Runtime {
  perform(effect: Effect, state: ClientState): void;
  readonly server: Server;
  readonly stream: Stream;
  /** What waits for a person: there as soon as anything can. */
  readonly waitingFor: typeof waitingFor;
  readonly exportPending: typeof exportPending;
  readonly readExport: typeof readExport;
  /** The client is about to be closed. The other tabs are told when their store goes, before one of them leads. */
  leave(why: Leaving): void;
  /** Resolves when what was written is on disk, or nothing is left there, and nothing is open any more. */
  close(farewell: Promise<void>, why: Leaving): Promise<void>;
}

export function openRuntime(ports: Ports, { settings, engine, waiters, clock, random, hear }: RuntimeDeps): Runtime {
  const { store, url, requestTimeoutMs: timeoutMs, schema, clientId } = settings;
  engine.become(machine);
  const token = tokenSource(settings.getToken, clock);
  const storage = withMemoryFallback(
    () => ports.storage(store),
    (trouble) => engine.dispatch({ type: "storageFailed", ...trouble }),
  );
  const tabs = ports.tabs(store);
  const signals = ports.signals();
  const models = Object.keys(schema.models);
  const { fetch, WebSocket } = ports;
  const exchange = (!fetch && ports.exchange) || kyExchange(fetch);
  const server = ports.server?.(token) ?? httpServer({ url, token, timeoutMs, models, exchange });
  const stream = ports.stream?.() ?? logStream({ url, clock, models, WebSocket });
  const performer = createPerformer(
    { storage, tabs, token, waiters, server, stream, clock, hear, persist: ports.persist },
    engine.dispatch,
    engine.store.getState,
  );
  const witness = ports.witness?.(store);
  const restored = restore({ storage, tabs, signals, random, engine, clientId, witness });
  const noEvictionMarker = witness ? watchQueue(engine, witness, clock) : () => {};
  return {
    perform: performer.perform,
    server,
    stream,
    waitingFor,
    exportPending,
    readExport,
    leave(why) {
      if (why === "signed-out") tabs.post({ type: "signedOut" });
      if (why === "signed-out-elsewhere") storage.detach();
    },
    async close(farewell, why) {
      await restored;
      noEvictionMarker();
      signals.close();
      await Promise.all([performer.close(), farewell]);
      // After the last write is on disk and the others were told.
      tabs.close();
      // Also the one that the tab has made which signs out elsewhere: both come to the same.
      if (why !== "closed") witness?.forget();
      await (why === "signed-out" ? storage.destroy() : storage.close());
    },
  };
}
