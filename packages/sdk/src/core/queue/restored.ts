import { refreshed } from "../conflicts/overlay.ts";
import { ask, set, type Turn, touch } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { checkScope } from "../log/scope.ts";
import type { StorageTrouble } from "../state.ts";
import { localFailure, nameTaken } from "./failure.ts";
import type { Mutation } from "./mutation.ts";
import { added, emptyQueue, find, inOrder } from "./queue.ts";
import { ledgerUpTo } from "./seq-set.ts";
import { take } from "./writes.ts";

/** The local store has been read. What the app wrote meanwhile comes after what was found there. */
export function restored(turn: Turn, event: Extract<ClientEvent, { type: "restored" }>): void {
  const early = [...inOrder(turn.state.queue)];
  const { rows, clientId, owner, partial, mutations, changes, lastSeq } = event;
  const shared = { ...turn.state.shared, changes, places: ledgerUpTo(lastSeq) };
  set(turn, { life: "running", clientId, owner, rows, shared });
  // What was kept of a first snapshot is shown while the rest is read.
  if (partial)
    set(turn, {
      rows: { ...rows, tables: partial.tables },
      reading: { ...turn.state.reading, partial: { ...partial, isKept: true } },
    });
  set(turn, { queue: added(emptyQueue, mutations) });
  checkScope(turn);
  touch(turn, "everything");
  // What is shown is worked out at the end of the step; before that only for writes that are to say what they build on.
  if (early.length === 0) return;
  set(turn, refreshed(turn.state, turn.state));
  take(turn, ofOwnName(turn, early));
}

/** Of the early writes those under a name of their own. One that a stored write has is refused as late as it can be known. */
function ofOwnName(turn: Turn, early: readonly Mutation[]): readonly Mutation[] {
  return early.filter(({ clientTxId }) => {
    if (!find(turn.state.queue, clientTxId)) return true;
    const failure = nameTaken(clientTxId);
    ask(turn, { do: "tell", clientTxId, news: { kind: "not-durable", failure } });
    ask(turn, { do: "tell", clientTxId, news: { kind: "failed", failure } });
    return false;
  });
}

/** The disk failed. Writes go on from memory, which is said: they do not survive a reload. */
export function storageFailed(turn: Turn, trouble: StorageTrouble): void {
  set(turn, { storageTrouble: trouble });
  const failure = localFailure("storage_failed", trouble.reason);
  for (const write of inOrder(turn.state.queue))
    if (write.stage.phase === "saving")
      ask(turn, { do: "tell", clientTxId: write.clientTxId, news: { kind: "not-durable", failure } });
}
