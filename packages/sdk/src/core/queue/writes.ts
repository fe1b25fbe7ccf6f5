import { baseOf } from "../conflicts/base.ts";
import { ask, set, type Turn, touch } from "../draft.ts";
import type { Mutated } from "../events.ts";
import { shapeOf } from "../schema/schema-hash.ts";
import { keysOf, type Mutation, sealed } from "./mutation.ts";
import { added } from "./queue.ts";

/** The app wrote something. It is shown in this step, put on disk by its effect, and sent only from there. */
export function mutated(turn: Turn, event: Mutated): void {
  const draft: Mutation = {
    clientTxId: event.clientTxId,
    seq: undefined,
    operations: event.operations.map((o) => ({ ...o, base: null })),
    reads: event.reads,
    schema: turn.state.schemaHash,
    shape: shapeOf(turn.state.models, event.operations),
    body: "",
    bytes: 0,
    createdAt: turn.now,
    attempts: 0,
    keys: keysOf(event.operations),
    landed: [],
    stage: { phase: "saving" },
  };
  take(turn, [draft]);
}

/** Writes that were exported from a queue, with their own texts and names. */
export function imported(turn: Turn, mutations: readonly Mutation[]): void {
  set(turn, { queue: added(turn.state.queue, mutations) });
  touch(
    turn,
    mutations.flatMap((m) => m.keys),
  );
  if (mutations.length > 0) persist(turn, mutations);
}

function persist(turn: Turn, mutations: readonly Mutation[]): void {
  ask(turn, { do: "persist", changes: [{ put: mutations.map((mutation) => ({ mutation })), drop: [] }] });
}

/** Takes writes into the queue. Before the local store was read they are only shown: nobody knows yet what they build on. */
export function take(turn: Turn, drafts: readonly Mutation[]): void {
  const { life, clientId, rows } = turn.state;
  const writes =
    life === "starting"
      ? drafts
      : drafts.map((draft) => {
          const operations = draft.operations.map((o) => ({ ...o, base: baseOf(turn.state, o) }));
          return sealed({ ...draft, operations }, clientId, rows);
        });
  set(turn, { queue: added(turn.state.queue, writes), appended: [...turn.state.appended, ...writes] });
  if (life !== "starting" && writes.length > 0) persist(turn, writes);
}
