import { claimsOn } from "./api/claims/claims.ts";
import type { ClaimsApi } from "./api/claims/claims-api.ts";
import type { Collab } from "./api/claims/collab.ts";
import type { LeasesDeps } from "./api/claims/leases.ts";
import { drained } from "./api/drained.ts";
import { followedScope } from "./api/followed-scope.ts";
import { type Lazy, lazy, untilLoaded } from "./api/lazy.ts";
import { Lists } from "./api/lists/lists.ts";
import { shownRows } from "./api/lists/shown-rows.ts";
import { modelApi } from "./api/model.ts";
import { onErased } from "./api/on-erased.ts";
import { presenceIn } from "./api/presence/presence.ts";
import { proposalsOn } from "./api/proposals/proposals.ts";
import type { Joins } from "./api/relations/joins.ts";
import { shownStatus } from "./api/shown-status.ts";
import { createEnding, type Ending, until } from "./api/shutdown.ts";
import type { SyncClient } from "./api/sync-client.ts";
import { arrived } from "./api/writes/arrived.ts";
import { makeCommit } from "./api/writes/make-commit.ts";
import { transact } from "./api/writes/transact.ts";
import { makeWrite, type WriteDeps } from "./api/writes/write.ts";
import { CLOSED } from "./core/queue/failure.ts";
import { rowsStatus, shownState } from "./core/select.ts";
import { type ClientState, initialState, modelsByName } from "./core/state.ts";
import type { CollabEngineDeps } from "./engine/collab-engine.ts";
import { createEngine } from "./engine/engine.ts";
import { createEventLoop } from "./engine/event-loop.ts";
import { PendingPromises } from "./engine/pending-promises.ts";
import type { Clock, Random } from "./engine/ports.ts";
import { invalid, localError, notifyApp, SyncError } from "./errors.ts";
import { type ClientOptions, checkOptions } from "./options.ts";
import { clientLimits as limits } from "./protocol/client-limits.ts";
import type { FollowedConditions } from "./protocol/log/followed-records.ts";
import type { ModelSchema } from "./protocol/schema/model-schema.ts";
import type { ModelName } from "./protocol/schema/row-types.ts";
import type { Leaving, Runtime, RuntimeDeps } from "./runtime.ts";

/** The parts of a client that differ between platforms. */
export interface Shell {
  readonly clock: Clock;
  readonly random: Random;
  /** The app wants nothing to be stored beyond the process. */
  readonly inMemory?: boolean;
  /** Loads the runtime, which works with disk and server. Retried until it succeeds. */
  readonly runtime: () => Promise<{ openRuntime(deps: RuntimeDeps): Runtime }>;
  /** Loads the code of queries that include records, if the schema has references. */
  readonly relations: () => Promise<{ readonly Joins: typeof Joins }>;
  /** Loads claims and presence on first use. */
  readonly collab: () => Promise<{ openCollab(deps: LeasesDeps, engineDeps: CollabEngineDeps): Collab }>;
}

/** How long to wait after a chunk could not be loaded. */
const CHUNK_RETRY_MS = 3_000;

/** Assembles a client, and closes it. All decisions are made in the core. */
export function createShell<const S extends ModelSchema>(shell: Shell, options: ClientOptions<S>): SyncClient<S> {
  const settings = checkOptions(options);
  const { clock, random, inMemory = false } = shell;
  const ending = createEnding();
  const waiters = new PendingPromises();
  const models = modelsByName(settings.schema);
  const engine = createEngine(
    initialState({
      schema: settings.schema,
      inMemory,
      paused: settings.paused,
      sendAtMost: limits.commitsPerBulk,
      sockets: settings.stream,
      upcasts: settings.upcast,
      scope: followedScope(models, settings.follow ?? {}),
    }),
    clock,
    random,
  );
  const { store } = engine;
  const deps: WriteDeps = {
    engine,
    waiters,
    random,
    isClosed: () => ending.isOver,
    shown: shownRows(store.getState().models, () => runtime.now()?.facts),
    later: () => runtime.now(),
  };

  const loaded = <Chunk>(load: () => Promise<Chunk>) =>
    untilLoaded(load, failed, { clock, everyMs: CHUNK_RETRY_MS, ending });
  const failed = (error: unknown) =>
    engine.dispatch({ type: "chunkMissing", reason: notLoaded("A chunk of the app", error) });
  const runtime = lazy(async () => {
    const { openRuntime } = await loaded(shell.runtime);
    return openRuntime({ settings, engine, ending, shown: deps.shown, waiters, clock, random });
  });
  // Beside the runtime, so that the queue does not wait for it.
  const joins = hasReferences(settings.schema)
    ? lazy(async () => {
        const { Joins } = await loaded(shell.relations);
        const { models } = store.getState();
        return new Joins({ models, invalid, compile: (model, query) => lists.compiled(model, query) });
      })
    : undefined;

  /** The runtime, once the local store has been read. */
  async function usable(): Promise<Runtime> {
    checkOpen(ending);
    const there = await ending.orEnd(runtime.load());
    await until(store, ending, isRunning);
    return there;
  }

  const collab = lazy(async () => {
    checkOpen(ending);
    const code = shell.collab().catch((error: unknown) => {
      throw localError("part_not_loaded", notLoaded("Claims", error));
    });
    const [{ openCollab }, { server, stream, frames }] = await ending.orEnd(Promise.all([code, runtime.load()]));
    checkOpen(ending);
    const made = openCollab(
      {
        usable,
        newName: () => random.id(),
        write: (operation, writeOptions) => makeWrite(deps, [operation], writeOptions),
        arrived: (key, isMeant) => arrived(store, key, isMeant),
      },
      { engine, server, stream, frames, clock, random, createEventLoop },
    );
    engine.dispatch({ type: "connectionWanted" });
    return made;
  });

  const shown = () => shownState(store.getState());
  const lists = new Lists(shown, clock, deps.shown, joins, () => runtime.now());
  const { note, ...status } = shownStatus(shown, runtime, deps);
  const offNotes = store.subscribe((state) => {
    lists.note(state);
    note();
  });

  async function takeApart(why: Leaving): Promise<void> {
    runtime.now()?.leave(why);
    ending.end(new SyncError(CLOSED));
    const collabClosed = collab.now()?.close();
    // Start no new requests. Pending writes of the app are still stored.
    engine.dispatch({ type: "paused" });
    try {
      // If the runtime is still loading, open it, so that pending writes of the app are stored.
      const loaded = await runtime.load().catch(() => undefined);
      await loaded?.close(collabClosed, why);
    } finally {
      engine.close();
      offNotes();
      waiters.close();
    }
  }

  async function readyWhen(isReady: (state: ClientState) => boolean): Promise<void> {
    await until(store, ending, isReady);
    // Only if it comes at the first attempt: everything else works without it.
    if (joins && !joins.now()) await Promise.race([joins.load(), until(store, ending, hasTrouble)]);
  }
  const readyAny = shared(() => readyWhen(hasRows));
  const readyComplete = shared(() => readyWhen(isComplete));

  let closing: Promise<void> | undefined;
  const end = (why: Leaving) => {
    closing ??= takeApart(why);
    return closing;
  };
  engine.listen(({ type }) => {
    // The user signed out in another tab, which deleted the store.
    if (type === "signedOut") void end("signed-out-elsewhere");
    if (type === "welcomed") collab.retry();
  });

  // Until it is loaded, writes of the app are only shown, and their `queued` promises stay pending.
  void runtime.load().catch(() => {});
  void joins?.load().catch(() => {});

  const subscribe = (listener: () => void) => {
    const notify = () => notifyApp(listener);
    // Claims that are loaded later are a change. The listener is never called before the caller can unsubscribe.
    let isSubscribed = false;
    const ofCollab = collab.whenLoaded((made) => {
      if (isSubscribed) notify();
      return made.subscribe(notify);
    });
    const ofJoins = joins?.onLoad(notify) ?? (() => {});
    const unsubscribes = [store.subscribe(notify), ofCollab, ofJoins, lists.subscribed()];
    isSubscribed = true;
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe();
    };
  };

  return {
    schema: settings.schema,
    models: modelApis<S>(deps, lists, settings.schema, collab, subscribe, usable),
    claims: claimsOn(collab, engine) as ClaimsApi<S>,
    proposals: proposalsOn(deps, runtime, usable),
    presence: (room) => presenceIn(collab, room),
    commit: (operations, commitOptions) => makeCommit(deps, operations, commitOptions),
    transact: (build, commitOptions) => transact(deps, settings.schema, build, commitOptions),
    ...status,
    subscribe,
    onErased: (listener) => onErased(store, Object.keys(settings.schema.models), listener),
    ready: ({ rows } = {}) => (rows === "complete" ? readyComplete() : readyAny()),
    drain: ({ timeoutMs } = {}) => drained(store, clock, ending, timeoutMs),
    follow(scope) {
      const followed = followedScope(models, scope);
      engine.dispatch({ type: "followed", followed, scope: runtime.now()?.loads.withLoaded(followed) ?? followed });
    },
    load(model, where, loadOptions) {
      const scope = followedScope(models, { where: { [model]: [where] } }) as {
        where: Record<string, FollowedConditions[]>;
      };
      const [checked] = scope.where[model] as [FollowedConditions];
      const part = usable().then(({ loads }) => loads.load(model, checked, loadOptions));
      const ready = part.then((made) => made.ready);
      // An app need not wait for it.
      ready.catch(() => {});
      return { ready, release: () => void part.then((made) => made.release()).catch(() => {}) };
    },
    exportPending: async () => (await usable()).exportPending(shown),
    importPending: async (exported, importOptions) => {
      const { readExport } = await usable();
      const mutations = readExport(store.getState(), exported, importOptions);
      engine.dispatch({ type: "imported", mutations });
      return mutations.length;
    },
    pause: () => engine.dispatch({ type: "paused" }),
    // A client that is closing stays paused.
    resume: () => {
      if (!ending.isOver) engine.dispatch({ type: "resumed" });
    },
    close: () => end("closed"),
    signOut: ({ pending: what }) => {
      if (what !== "keep" && what !== "discard")
        return Promise.reject(
          localError("invalid_options", 'signOut needs { pending: "keep" } or { pending: "discard" }.'),
        );
      return end(what === "discard" ? "signed-out" : "closed");
    },
  };
}

function modelApis<S extends ModelSchema>(
  deps: WriteDeps,
  lists: Lists,
  schema: S,
  collab: Lazy<Collab>,
  subscribe: SyncClient<S>["subscribe"],
  usable: () => Promise<Runtime>,
): SyncClient<S>["models"] {
  const names = Object.keys(schema.models) as ModelName<S>[];
  const apis = names.map((name) => [name, modelApi<S, ModelName<S>>(deps, lists, collab, name, subscribe, usable)]);
  // Without a prototype: `models.constructor` is a model of that name, or undefined.
  return Object.assign(Object.create(null), Object.fromEntries(apis)) as SyncClient<S>["models"];
}

/** The error of a browser that forbids `import()` names a specification, and no way out. */
const notLoaded = (what: string, error: unknown) =>
  `${what} could not be loaded: ${String(error)}. Service workers forbid import(): use "@holdfast/sdk/worker" in them.`;

/** Calls that come while one is waiting get its promise, so that they need no memory. */
function shared(wait: () => Promise<void>): () => Promise<void> {
  let waiting: Promise<void> | undefined;
  return () => {
    waiting ??= wait().finally(() => {
      waiting = undefined;
    });
    return waiting;
  };
}

function checkOpen({ isOver }: Ending): void {
  if (isOver) throw new SyncError(CLOSED);
}

/** The local store or the first snapshot has provided rows. */
const hasRows = ({ rows }: ClientState) => rows.position !== undefined;
const hasTrouble = ({ trouble }: ClientState) => trouble !== undefined;
const isComplete = (state: ClientState) => rowsStatus(state) === "complete";
/** The local store has been read. */
const isRunning = ({ life }: ClientState) => life === "running";

const hasReferences = ({ models }: ModelSchema): boolean =>
  Object.values(models).some(({ fields }) => Object.values(fields).some(({ references }) => references !== undefined));
