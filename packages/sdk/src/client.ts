import type { ClaimsApi } from "./api/claims/claims-api.ts";
import type { Collab } from "./api/claims/collab.ts";
import { type CollabLater, collabLater } from "./api/claims/collab-later.ts";
import type { LeasesDeps } from "./api/claims/leases.ts";
import { drained } from "./api/drained.ts";
import { Lists } from "./api/lists/lists.ts";
import { shownRows } from "./api/lists/shown-rows.ts";
import { modelApi } from "./api/model.ts";
import { notifyApp } from "./api/notify-app.ts";
import { sameFields } from "./api/same.ts";
import { createEnding, until } from "./api/shutdown.ts";
import type { ModelApi, PendingMutation, SyncClient, SyncStatus } from "./api/sync-client.ts";
import { arrived } from "./api/writes/arrived.ts";
import { makeCommit } from "./api/writes/make-commit.ts";
import { checkModel, makeWrite, type WriteDeps } from "./api/writes/write.ts";
import type { Queue } from "./core/queue/queue.ts";
import { pendingOf, shownState, statusOf } from "./core/select.ts";
import { type ClientState, initialState } from "./core/state.ts";
import type { CollabEngineDeps } from "./engine/collab-engine.ts";
import { createEngine } from "./engine/engine.ts";
import { PendingPromises } from "./engine/pending-promises.ts";
import type { Clock, Random } from "./engine/ports.ts";
import { localError } from "./errors.ts";
import { type ClientOptions, checkOptions } from "./options.ts";
import { clientLimits as limits } from "./protocol/client-limits.ts";
import type { ModelSchema } from "./protocol/schema/model-schema.ts";
import type { ModelName } from "./protocol/schema/row-types.ts";
import type { Leaving, Runtime, RuntimeDeps } from "./runtime.ts";
import { runtimeLater } from "./runtime-later.ts";

/** The parts of a client that differ between platforms. */
export interface Shell {
  readonly clock: Clock;
  readonly random: Random;
  /** The app wants nothing to be stored beyond the process. */
  readonly inMemory?: boolean;
  /** Loads the runtime, which works with disk and server. Retried until it succeeds. */
  readonly runtime: () => Promise<{ openRuntime(deps: RuntimeDeps): Runtime }>;
  /** Loads claims and presence on first use. */
  readonly collab?: (() => Promise<{ openCollab(deps: LeasesDeps, engineDeps: CollabEngineDeps): Collab }>) | undefined;
}

const NONE: readonly never[] = [];

/** Assembles a client, and closes it. All decisions are made in the core. */
export function createShell<const S extends ModelSchema>(shell: Shell, options: ClientOptions<S>): SyncClient<S> {
  const settings = checkOptions(options);
  const { clock, random, inMemory = false } = shell;
  const waiters = new PendingPromises();
  const engine = createEngine(
    initialState({
      schema: settings.schema,
      inMemory,
      paused: settings.paused,
      sendAtMost: limits.commitsPerBulk,
      sockets: settings.stream,
      upcasts: settings.upcast,
      scope: settings.follow,
    }),
    clock,
    random,
  );

  let closing: Promise<void> | undefined;
  const deps: WriteDeps = {
    engine,
    waiters,
    random,
    isClosed: () => closing !== undefined,
    show: shownRows(engine.store.getState().models),
  };
  const shown = () => shownState(engine.store.getState());
  const lists = new Lists(shown, clock, deps.show);
  const offNotes = engine.store.subscribe((state) => {
    lists.note(state);
    waiting?.note(shown());
  });
  let waiting: ReturnType<Runtime["waitingFor"]> | undefined;
  const whatWaits = () => {
    waiting ??= runtime.now()?.waitingFor(deps);
    return waiting;
  };
  const load = shell.collab ?? (() => import("./api/claims/collab.ts"));
  const collab = collabLater(async () => {
    const [{ openCollab }, { server, stream }] = [await load(), await ending.orEnd(runtime.there)];
    return openCollab(
      {
        usable,
        newName: () => random.id(),
        write: (operation, writeOptions) => makeWrite(deps, [operation], writeOptions),
        arrived: (key, isMeant) => arrived(engine.store, key, isMeant),
      },
      { engine, server, stream, clock, random },
    );
  }, engine);
  const hear = collab.hear;
  const runtime = runtimeLater(
    async () => {
      const { openRuntime } = await shell.runtime();
      return () => openRuntime({ settings, engine, waiters, clock, random, hear });
    },
    engine,
    clock,
  );

  const ending = createEnding();

  /** The runtime, once the local store has been read. */
  async function usable(): Promise<Runtime> {
    const there = await ending.orEnd(runtime.there);
    await until(engine.store, ending, isRunning);
    return there;
  }

  let status: SyncStatus | undefined;
  let pending: { of: Queue; list: readonly PendingMutation[] } | undefined;

  async function takeApart(why: Leaving): Promise<void> {
    runtime.now()?.leave(why);
    ending.end(localError("client_closed"));
    const farewell = collab.close();
    // Start no new requests. Pending writes of the app are still stored.
    engine.dispatch({ type: "paused" });
    try {
      await runtime.close(farewell, why);
    } finally {
      engine.close();
      offNotes();
      waiters.close();
    }
  }

  const end = (why: Leaving) => {
    closing ??= takeApart(why);
    return closing;
  };
  // The user signed out in another tab, which deleted the store.
  engine.listen(({ type }) => type === "signedOut" && void end("signed-out-elsewhere"));

  return {
    models: modelApis<S>(deps, lists, settings.schema, collab),
    claims: collab.claims as ClaimsApi<S>,
    presence: collab.presence,
    commit: (operations, commitOptions) => makeCommit(deps, operations, commitOptions),
    status: () => {
      status = sameFields(status, statusOf(shown()));
      return status;
    },
    conflicts: () => whatWaits()?.conflicts(shown()) ?? NONE,
    attention: () => whatWaits()?.attention(shown()) ?? NONE,
    pending: () => {
      const state = shown();
      const { queue } = state;
      const kept = pending?.of === queue ? pending : { of: queue, list: pendingOf(state) };
      pending = kept;
      return kept.list;
    },
    subscribe: (listener) => {
      const tell = () => notifyApp(listener);
      const offs = [engine.store.subscribe(tell), collab.subscribe(tell), lists.subscribed()];
      return () => {
        for (const off of offs) off();
      };
    },
    ready: () => until(engine.store, ending, hasRows),
    drain: ({ timeoutMs } = {}) => drained(engine.store, clock, ending, timeoutMs),
    follow: ({ models, groups }) => {
      for (const model of models ?? []) checkModel(engine.store.getState().models, model);
      engine.dispatch({ type: "followed", scope: { ...(models && { models }), ...(groups && { groups }) } });
    },
    exportPending: async () => {
      const { exportPending } = await usable();
      return exportPending(shown(), clock.now());
    },
    importPending: async (exported) => {
      const { readExport } = await usable();
      const mutations = readExport(engine.store.getState(), exported);
      engine.dispatch({ type: "imported", mutations });
      return mutations.length;
    },
    pause: () => engine.dispatch({ type: "paused" }),
    // A client that is closing stays paused.
    resume: () => {
      if (!closing) engine.dispatch({ type: "resumed" });
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
  collab: CollabLater,
): SyncClient<S>["models"] {
  const names = Object.keys(schema.models) as ModelName<S>[];
  const apis = names.map((name): [string, ModelApi<S, ModelName<S>>] => [
    name,
    modelApi<S, ModelName<S>>(deps, lists, collab, name),
  ]);
  return Object.fromEntries(apis) as SyncClient<S>["models"];
}

/** The local store or the first snapshot has provided rows. */
const hasRows = ({ rows }: ClientState) => rows.position !== undefined;
/** The local store has been read. */
const isRunning = ({ life }: ClientState) => life === "running";
