import { refreshed } from "../conflicts/overlay.ts";
import { ask, type Draft, set, touch } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { checkScope } from "../log/scope.ts";
import type { StorageTrouble } from "../state.ts";
import { localFailure, nameTaken } from "./failure.ts";
import type { Mutation } from "./mutation.ts";
import { emptyQueue, find, inOrder, withMutations } from "./queue.ts";
import { seqSetUpTo } from "./seq-set.ts";
import { take } from "./writes.ts";

/** The local store has been read. What the app wrote meanwhile comes after what was found there. */
export function onRestored(draft: Draft, event: Extract<ClientEvent, { type: "restored" }>): void {
  const early = [...inOrder(draft.state.queue)];
  const { rows, clientId, owner, partial, mutations, changes, lastSeq } = event;
  const shared = { ...draft.state.shared, changes, places: seqSetUpTo(lastSeq) };
  set(draft, { life: "running", clientId, owner, rows, shared });
  // What was kept of a first snapshot is shown while the rest is read.
  if (partial)
    set(draft, {
      rows: { ...rows, tables: partial.tables },
      reading: { ...draft.state.reading, partial: { ...partial, isKept: true } },
    });
  set(draft, { queue: withMutations(emptyQueue, mutations) });
  checkScope(draft);
  touch(draft, "everything");
  // What is shown is worked out at the end of the step; before that only for writes that are to say what they build on.
  if (early.length === 0) return;
  set(draft, refreshed(draft.state, draft.state));
  take(draft, ofOwnName(draft, early));
}

/** Of the early writes those under a name of their own. One that a stored write has is refused as late as it can be known. */
function ofOwnName(draft: Draft, early: readonly Mutation[]): readonly Mutation[] {
  return early.filter(({ clientTxId }) => {
    if (!find(draft.state.queue, clientTxId)) return true;
    const failure = nameTaken(clientTxId);
    ask(draft, { do: "notify", clientTxId, news: { kind: "not-durable", failure } });
    ask(draft, { do: "notify", clientTxId, news: { kind: "failed", failure } });
    return false;
  });
}

/** The disk failed. Writes go on from memory, which is said: they do not survive a reload. */
export function onStorageFailed(draft: Draft, trouble: StorageTrouble): void {
  set(draft, { storageTrouble: trouble });
  const failure = localFailure("storage_failed", trouble.reason);
  for (const write of inOrder(draft.state.queue))
    if (write.stage.phase === "saving")
      ask(draft, { do: "notify", clientTxId: write.clientTxId, news: { kind: "not-durable", failure } });
}
