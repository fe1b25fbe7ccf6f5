import type { LeaseDesk } from "./api/claim.ts";
import type { ClaimsApi } from "./api/claims-api.ts";
import { makeCommit } from "./api/commit.ts";
import type { Company } from "./api/company.ts";
import { type CompanyLater, companyLater } from "./api/company-later.ts";
import { drained } from "./api/drain.ts";
import { Lists } from "./api/lists.ts";
import { modelApi } from "./api/model.ts";
import { arrived } from "./api/on-the-way.ts";
import { sameFields } from "./api/same.ts";
import type { ModelApi, PendingMutation, SyncClient, SyncStatus } from "./api/sync-client.ts";
import { waitingFor } from "./api/waiting.ts";
import { type Desk, makeWrite } from "./api/write.ts";
import type { Queue } from "./core/queue.ts";
import { pendingOf, statusOf } from "./core/select.ts";
import { initialState } from "./core/state.ts";
import type { CompanyWorld } from "./engine/company.ts";
import { createEngine, type Engine } from "./engine/engine.ts";
import { createPerformer, type Performer, type World } from "./engine/perform.ts";
import type { Clock, Dice, Server, Signals, Storage, Stream, Tabs, TokenSource } from "./engine/ports.ts";
import { restore } from "./engine/restore.ts";
import { Waiters } from "./engine/waiters.ts";
import { localError } from "./errors.ts";
import { type ClientOptions, checkOptions, type Settings } from "./options.ts";
import { limits } from "./protocol/limits.ts";
import type { ModelSchema } from "./protocol/model-schema.ts";
import type { ModelName } from "./protocol/row-types.ts";
import { withMemoryFallback } from "./storage/fallback.ts";
import { tokenSource } from "./transport/token.ts";
import type { Wires } from "./transport/wires.ts";
import { wiresLater } from "./transport/wires-later.ts";

/** Everything that differs between a browser, a Node process and a test. */
export interface Platform {
  readonly clock: Clock;
  readonly dice: Dice;
  readonly storage: (store: string) => Promise<Storage>;
  readonly tabs: (store: string) => Tabs;
  readonly signals: () => Signals;
  /** Where the platform has none of its own. */
  readonly WebSocket?: unknown;
  readonly fetch?: typeof globalThis.fetch;
  /** For tests: another way to the part that is loaded when claims or presence are first used. */
  readonly company?: () => Promise<{ openCompany(desk: LeaseDesk, world: CompanyWorld): Company }>;
  /** For tests: other ways to the server than HTTP and a socket. */
  readonly server?: (token: TokenSource) => Server;
  readonly stream?: () => Stream;
}

/** Puts a client together, and takes it apart again. It decides nothing: that is the core's. */
export function createClientOn<const S extends ModelSchema>(
  platform: Platform,
  options: ClientOptions<S>,
): SyncClient<S> {
  const settings = checkOptions(options);
  const { clock, dice } = platform;
  const token = tokenSource(settings.getToken, clock);
  const waiters = new Waiters();
  const storage = withMemoryFallback(
    () => platform.storage(settings.store),
    (reason) => engine.dispatch({ type: "storageFailed", reason }),
  );
  const tabs = platform.tabs(settings.store);
  const signals = platform.signals();
  const { server, stream } = wires(platform, settings, token);
  const world: World = { storage, tabs, token, waiters, server, stream, hear: (frame) => company.hear(frame) };

  const engine: Engine = createEngine({
    initial: initialState({
      schema: settings.schema,
      paused: settings.paused,
      sendAtMost: limits.commitsPerBulk,
      sockets: settings.stream,
    }),
    clock,
    dice,
    perform: (effect, state) => performer.perform(effect, state),
  });
  const performer: Performer = createPerformer(world, engine.dispatch, () => engine.store.getState());

  let closing: Promise<void> | undefined;
  const desk: Desk = { engine, waiters, dice, isClosed: () => closing !== undefined };
  const lists = new Lists(() => engine.store.getState());
  const offLists = engine.store.subscribe((state) => lists.note(state));
  const waiting = waitingFor(desk);
  const load = platform.company ?? (() => import("./api/company.ts"));
  const company = companyLater(
    async () =>
      (await load()).openCompany(
        {
          newName: () => dice.id(),
          write: (operation, writeOptions) => makeWrite(desk, [operation], writeOptions),
          arrived: (key, isMeant) => arrived(engine.store, key, isMeant),
        },
        { engine, server, stream, clock, dice },
      ),
    engine,
  );

  const restored = restore({ storage, tabs, signals, dice, engine, clientId: settings.clientId });
  const closed = promiseOf<never>();
  closed.promise.catch(() => {});

  let status: SyncStatus | undefined;
  let pending: { of: Queue; list: readonly PendingMutation[] } | undefined;

  async function takeApart(): Promise<void> {
    closed.reject(localError("client_closed"));
    const farewell = company.close();
    // From here on nothing new begins; what the app has written still reaches the disk.
    engine.dispatch({ type: "paused" });
    await restored;
    signals.close();
    await Promise.all([performer.close(), farewell]);
    // After the last write is on disk and the others were told.
    tabs.close();
    engine.close();
    offLists();
    waiters.close();
    await storage.close();
  }

  return {
    models: modelApis<S>(desk, lists, settings.schema, company),
    claims: company.claims as ClaimsApi<S>,
    presence: company.presence,
    commit: (operations, commitOptions) => makeCommit(desk, operations, commitOptions),
    status: () => {
      status = sameFields(status, statusOf(engine.store.getState()));
      return status;
    },
    conflicts: () => waiting.conflicts(engine.store.getState()),
    attention: () => waiting.attention(engine.store.getState()),
    pending: () => {
      const { queue } = engine.store.getState();
      const kept = pending?.of === queue ? pending : { of: queue, list: pendingOf(engine.store.getState()) };
      pending = kept;
      return kept.list;
    },
    subscribe: (listener) => {
      const tell = () => listener();
      const offs = [engine.store.subscribe(tell), company.subscribe(tell)];
      return () => {
        for (const off of offs) off();
      };
    },
    ready: () => Promise.race([firstRows(engine), closed.promise]),
    drain: ({ timeoutMs } = {}) => Promise.race([drained(engine.store, clock, timeoutMs), closed.promise]),
    pause: () => engine.dispatch({ type: "paused" }),
    resume: () => engine.dispatch({ type: "resumed" }),
    close: () => {
      closing ??= takeApart();
      return closing;
    },
  };
}

function wires<S extends ModelSchema>(
  platform: Platform,
  { url, requestTimeoutMs: timeoutMs, schema }: Settings<S>,
  token: TokenSource,
): Wires {
  const { clock, fetch, WebSocket, server, stream } = platform;
  if (server && stream) return { server: server(token), stream: stream() };
  const models = Object.keys(schema.models);
  const real = wiresLater(async () =>
    (await import("./transport/wires.ts")).openWires({ url, token, timeoutMs, models, clock, fetch, WebSocket }),
  );
  return { server: server?.(token) ?? real.server, stream: stream?.() ?? real.stream };
}

function modelApis<S extends ModelSchema>(
  desk: Desk,
  lists: Lists,
  schema: S,
  company: CompanyLater,
): SyncClient<S>["models"] {
  const names = Object.keys(schema.models) as ModelName<S>[];
  const apis = names.map((name): [string, ModelApi<S, ModelName<S>>] => [
    name,
    modelApi<S, ModelName<S>>(desk, lists, company, name),
  ]);
  return Object.fromEntries(apis) as SyncClient<S>["models"];
}

/** Rows of the local store, or of the first snapshot. */
function firstRows({ store }: Engine): Promise<void> {
  const { promise, resolve } = promiseOf<void>();
  const look = () => {
    if (store.getState().rows.position === undefined) return;
    off();
    resolve();
  };
  const off = store.subscribe(look);
  look();
  return promise;
}

function promiseOf<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
