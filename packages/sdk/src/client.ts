import type { ClaimsApi } from "./api/claims/claims-api.ts";
import type { Company } from "./api/claims/collab.ts";
import { type CompanyLater, companyLater } from "./api/claims/collab-later.ts";
import type { LeaseDesk } from "./api/claims/leases.ts";
import { drained } from "./api/drained.ts";
import { Lists } from "./api/lists/lists.ts";
import { shownRows } from "./api/lists/shown-rows.ts";
import { modelApi } from "./api/model.ts";
import { tellApp } from "./api/notify-app.ts";
import { sameFields } from "./api/same.ts";
import { createEnding, until } from "./api/shutdown.ts";
import type { ModelApi, PendingMutation, SyncClient, SyncStatus } from "./api/sync-client.ts";
import { arrived } from "./api/writes/arrived.ts";
import { makeCommit } from "./api/writes/make-commit.ts";
import { checkModel, type Desk, makeWrite } from "./api/writes/write.ts";
import type { Queue } from "./core/queue/queue.ts";
import { pendingOf, shownState, statusOf } from "./core/select.ts";
import { type ClientState, initialState } from "./core/state.ts";
import type { CompanyWorld } from "./engine/collab-engine.ts";
import { createEngine, type Engine } from "./engine/engine.ts";
import { Waiters } from "./engine/pending-promises.ts";
import type { Clock, Dice } from "./engine/ports.ts";
import { localError } from "./errors.ts";
import { type ClientOptions, checkOptions } from "./options.ts";
import { clientLimits as limits } from "./protocol/client-limits.ts";
import type { ModelSchema } from "./protocol/schema/model-schema.ts";
import type { ModelName } from "./protocol/schema/row-types.ts";
import type { Leaving, Part, PartDesk } from "./runtime.ts";
import { partLater } from "./runtime-later.ts";

/** What a client is made of that is not the same everywhere. */
export interface Shell {
  readonly clock: Clock;
  readonly dice: Dice;
  /** Nothing is kept beyond the process, as the app wants it. */
  readonly inMemory?: boolean;
  /** The part that works with the disk and the server. Tried again until it is there. */
  readonly part: () => Promise<{ openPart(desk: PartDesk): Part }>;
  /** The part that is loaded when claims or presence are first used. */
  readonly company?: (() => Promise<{ openCompany(desk: LeaseDesk, world: CompanyWorld): Company }>) | undefined;
}

const NONE: readonly never[] = [];

/** Puts a client together, and takes it apart again. It decides nothing: that is the core's. */
export function createShell<const S extends ModelSchema>(shell: Shell, options: ClientOptions<S>): SyncClient<S> {
  const settings = checkOptions(options);
  const { clock, dice, inMemory = false } = shell;
  const waiters = new Waiters();
  const engine: Engine = createEngine({
    initial: initialState({
      schema: settings.schema,
      inMemory,
      paused: settings.paused,
      sendAtMost: limits.commitsPerBulk,
      sockets: settings.stream,
      upcasts: settings.upcast,
      scope: settings.follow,
    }),
    clock,
    dice,
    // Nothing is asked of the world before its part has read the store.
    perform: (effect, state) => part.now()?.perform(effect, state),
  });

  let closing: Promise<void> | undefined;
  const desk: Desk = {
    engine,
    waiters,
    dice,
    isClosed: () => closing !== undefined,
    show: shownRows(engine.store.getState().models),
  };
  const shown = () => shownState(engine.store.getState());
  const lists = new Lists(shown, clock, desk.show);
  const offNotes = engine.store.subscribe((state) => {
    lists.note(state);
    waiting?.note(shown());
  });
  let waiting: ReturnType<Part["waitingFor"]> | undefined;
  const whatWaits = () => {
    waiting ??= part.now()?.waitingFor(desk);
    return waiting;
  };
  const load = shell.company ?? (() => import("./api/claims/collab.ts"));
  const company = companyLater(async () => {
    const [{ openCompany }, { server, stream }] = [await load(), await ending.orEnd(part.there)];
    return openCompany(
      {
        usable,
        newName: () => dice.id(),
        write: (operation, writeOptions) => makeWrite(desk, [operation], writeOptions),
        arrived: (key, isMeant) => arrived(engine.store, key, isMeant),
      },
      { engine, server, stream, clock, dice },
    );
  }, engine);
  const hear = company.hear;
  const part = partLater(
    async () => {
      const { openPart } = await shell.part();
      return () => openPart({ settings, engine, waiters, clock, dice, hear });
    },
    engine,
    clock,
  );

  const ending = createEnding();

  /** The part, when the local store has been read. */
  async function usable(): Promise<Part> {
    const there = await ending.orEnd(part.there);
    await until(engine.store, ending, isRunning);
    return there;
  }

  let status: SyncStatus | undefined;
  let pending: { of: Queue; list: readonly PendingMutation[] } | undefined;

  async function takeApart(why: Leaving): Promise<void> {
    part.now()?.leave(why);
    ending.end(localError("client_closed"));
    const farewell = company.close();
    // From here on nothing new begins; what the app has written still reaches the disk.
    engine.dispatch({ type: "paused" });
    try {
      await part.close(farewell, why);
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
  // Somebody signed out in another tab, and the store is gone.
  engine.listen(({ type }) => type === "signedOut" && void end("signed-out-elsewhere"));

  return {
    models: modelApis<S>(desk, lists, settings.schema, company),
    claims: company.claims as ClaimsApi<S>,
    presence: company.presence,
    commit: (operations, commitOptions) => makeCommit(desk, operations, commitOptions),
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
      const tell = () => tellApp(listener);
      const offs = [engine.store.subscribe(tell), company.subscribe(tell), lists.subscribed()];
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
    // One that is being closed stays as it is.
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
const hasRows = ({ rows }: ClientState) => rows.position !== undefined;
/** The local store has been read. */
const isRunning = ({ life }: ClientState) => life === "running";
