import type { CollabFrame } from "../../core/collab/collab.ts";
import { tableOf } from "../../core/log/tables.ts";
import { knownFailure } from "../../core/queue/failure.ts";
import type { Engine } from "../../engine/engine.ts";
import { localError, SyncError } from "../../errors.ts";
import { clientLimits as limits } from "../../protocol/client-limits.ts";
import type { ModelSchema } from "../../protocol/schema/model-schema.ts";
import type { Presence } from "../presence/presence-api.ts";
import { jsonCopy } from "../writes/payload.ts";
import type { ClaimOptions, ClaimsApi, Lease, RecordClaims } from "./claims-api.ts";
import type { Collab } from "./collab.ts";

/** Stands in for claims and presence until they are used and their code is loaded. */
export interface CollabLater {
  claim(model: string, id: string, options?: ClaimOptions): Promise<Lease>;
  readonly claims: ClaimsApi<ModelSchema>;
  presence(room: string): Presence;
  hear(frame: CollabFrame): void;
  subscribe(listener: () => void): () => void;
  close(): Promise<void>;
}

const NOBODY: readonly never[] = [];
const NOT_YET: RecordClaims = { state: "unknown", why: "not-watched", holders: NOBODY, queue: NOBODY };

/**
 * Loads the code of claims and presence on first use, so that pages without claims need not load it. If loading fails,
 * for example without a network, the next use or the next connection tries again.
 */
export function collabLater(load: () => Promise<Collab>, engine: Engine): CollabLater {
  let collab: Collab | undefined;
  let loading: Promise<Collab> | undefined;
  let isClosed = false;
  const waiting = new Set<(collab: Collab) => void>();
  const listeners = new Set<() => void>();

  const off = engine.listen(({ type }) => {
    if (type === "welcomed" && waiting.size > 0) void get().catch(() => {});
  });

  function get(): Promise<Collab> {
    if (isClosed) return Promise.reject(localError("client_closed"));
    loading ??= load().then(
      (made) => {
        if (isClosed) {
          void made.close();
          throw localError("client_closed");
        }
        collab = made;
        made.subscribe(tell);
        engine.dispatch({ type: "connectionWanted" });
        for (const use of [...waiting]) use(made);
        waiting.clear();
        tell();
        return made;
      },
      (error: unknown) => {
        loading = undefined;
        throw localError("part_not_loaded", `Claims could not be loaded: ${String(error)}`);
      },
    );
    return loading;
  }

  const tell = () => {
    for (const listener of [...listeners]) listener();
  };

  /** Attaches as soon as the code is loaded. The returned function detaches, or cancels a pending attachment. */
  function eventually(attach: (collab: Collab) => () => void): () => void {
    if (collab) return attach(collab);
    let detach = () => {};
    const use = (made: Collab) => {
      detach = attach(made);
    };
    waiting.add(use);
    void get().catch(() => {});
    return () => {
      waiting.delete(use);
      detach();
    };
  }

  return {
    claim: async (model, id, options = {}) => (collab ?? (await get())).claim(model, id, options),
    claims: {
      watch(model, ids) {
        if (!Object.hasOwn(engine.store.getState().models, tableOf(model)))
          throw new SyncError(knownFailure("unknown_model", `The schema has no model "${model}".`, { param: "model" }));
        return eventually((made) => made.watch(model, ids));
      },
      mine: async () => (collab ?? (await get())).ownClaims(),
      of: (model, id) => collab?.claimsOf(model, id) ?? NOT_YET,
    },
    presence(name) {
      let room: Presence | undefined;
      let said: ReturnType<Presence["state"]> = {};
      let detach = () => {};
      const look = (made = collab) => {
        room ??= made?.room(name);
        return room;
      };
      return {
        room: name,
        set(state) {
          said = jsonCopy(state, "state");
          if (new TextEncoder().encode(JSON.stringify(said)).length > limits.presenceStateBytes)
            throw new SyncError(
              knownFailure("invalid_value", "The presence state is larger than 4 KiB.", { param: "state" }),
            );
          detach();
          detach = eventually((made) => {
            look(made)?.set(said);
            return () => {};
          });
        },
        state: () => look()?.state() ?? said,
        peers: () => look()?.peers() ?? NOBODY,
        others: () => look()?.others() ?? NOBODY,
        self: () => look()?.self(),
        status: () => look()?.status() ?? "connecting",
        error: () => look()?.error(),
        subscribe: (listener) => eventually((made) => look(made)?.subscribe(listener) ?? (() => {})),
        leave() {
          detach();
          room?.leave();
        },
      };
    },
    hear: (frame) => collab?.hear(frame),
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      isClosed = true;
      off();
      await collab?.close();
    },
  };
}
