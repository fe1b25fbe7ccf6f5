import { ownerOfTab } from "../connection/owner-name.ts";
import { type Draft, set } from "../draft.ts";
import type { Mutated } from "../events.ts";
import { shapeOf } from "../schema/schema-hash.ts";
import type { QueueState } from "../state.ts";
import { keysOf, type Mutation } from "./mutation.ts";
import { withMutations } from "./queue.ts";

/* The part of a write that the client needs before the runtime is loaded. */

/** The app's write, without what the local store has to say of it. */
export function newWrite(draft: Draft, { clientTxId, operations, reads, attribution, asks }: Mutated): Mutation {
  return {
    clientTxId,
    seq: undefined,
    operations: operations.map((o) => ({ ...o, base: o.base ?? null })),
    reads,
    ...(attribution && { attribution }),
    ...(asks && { asks }),
    schema: draft.state.schemaHash,
    shape: shapeOf(draft.state.models, operations),
    body: "",
    bytes: 0,
    owner: ownerOfTab(draft.state) ?? null,
    createdAt: draft.now,
    attempts: 0,
    unsent: true,
    keys: keysOf(operations),
    echoed: [],
    stage: { phase: "saving" },
  };
}

/** Adds writes to the queue, so that they are shown. */
export function show(draft: Draft, writes: readonly Mutation[]): void {
  set<QueueState>(draft, {
    queue: withMutations(draft.state.queue, writes),
    appended: [...draft.state.appended, ...writes],
  });
}
