import { refreshed } from "../conflicts/refreshed.ts";
import { checkOwner } from "../connection/owner.ts";
import { ownerOfTab } from "../connection/owner-name.ts";
import { type Draft, emit, set, touch } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { withLoaded } from "../log/loaded-parts.ts";
import type { Rows } from "../log/rows.ts";
import { checkScope } from "../log/scope.ts";
import { scopeOf } from "../log/scope-key.ts";
import type { StorageTrouble } from "../state.ts";
import { onServerTime } from "./age.ts";
import { localFailure, nameTaken } from "./failure.ts";
import type { Mutation } from "./mutation.ts";
import { emptyQueue, find, inOrder, withMutations } from "./queue.ts";
import { seqSetUpTo } from "./reconcile/seq-set.ts";
import { take } from "./writes.ts";

/** The local store has been read. Writes that the app made meanwhile go behind the stored ones. */
export function onRestored(draft: Draft, event: Extract<ClientEvent, { type: "restored" }>): void {
  const early = [...inOrder(draft.state.queue)];
  const {
    rows,
    clientId,
    storeId,
    owner,
    others = false,
    recordBytes,
    tokenOwner,
    named,
    partial,
    mutations,
    changes,
    lastSeq,
  } = event;
  const shared = { ...draft.state.shared, changes, seqs: seqSetUpTo(lastSeq) };
  const tabs = { ...draft.state.tabs, areShared: event.areShared ?? false };
  set(draft, {
    life: "running",
    choosing: undefined,
    trouble: draft.state.choosing ? undefined : draft.state.trouble,
    clientId,
    storeId,
    owner,
    others,
    recordBytes,
    tokenOwner,
    named,
    rows,
    shared,
    tabs,
  });
  // Shows the stored pages of an unfinished first snapshot while the rest is read.
  if (partial)
    set(draft, {
      rows: { ...rows, tables: partial.tables },
      reading: { ...draft.state.reading, partial: { ...partial, isKept: true } },
    });
  const stored = mutations.map((m) => ({ ...m, echoed: areIn(rows, m) ? m.echoed : [] }));
  set(draft, { queue: withMutations(emptyQueue, stored) });
  set(draft, { scope: withLoaded(draft.state.scope, scopeOf(partial?.scope ?? rows.scope)) });
  onServerTime(draft, event);
  checkScope(draft);
  checkOwner(draft);
  touch(draft, "everything");
  // The view is computed at the end of each step. Compute it now only if early writes need their base values.
  if (early.length === 0) return;
  set(draft, refreshed(draft.state, draft.state));
  // The tab did not know its owner when the app made them.
  const maker = ownerOfTab(draft.state) ?? null;
  take(
    draft,
    ofOwnName(draft, early).map((write) => ({ ...write, owner: maker })),
  );
}

/** Whether the stored rows contain what the log had brought of a write. They may have been stored before, or read anew. */
const areIn = ({ logId, position = -1 }: Rows, { echoedAt, ...write }: Mutation): boolean =>
  echoedAt !== undefined && echoedAt <= position && (write.logId ?? logId) === logId;

/** Returns the early writes with unused names. A name that a stored write has can be refused only now. */
function ofOwnName(draft: Draft, early: readonly Mutation[]): readonly Mutation[] {
  return early.filter(({ clientTxId }) => {
    if (!find(draft.state.queue, clientTxId)) return true;
    const failure = nameTaken(clientTxId);
    emit(draft, { do: "notify", clientTxId, news: { kind: "not-durable", failure } });
    emit(draft, { do: "notify", clientTxId, news: { kind: "failed", failure } });
    return false;
  });
}

/** The disk failed. Writes continue in memory, and the app is notified that they do not survive a reload. */
export function onStorageFailed(draft: Draft, trouble: StorageTrouble): void {
  set(draft, { storageTrouble: trouble });
  const failure = localFailure("storage_failed", trouble.reason);
  for (const write of inOrder(draft.state.queue))
    if (write.stage.phase === "saving")
      emit(draft, { do: "notify", clientTxId: write.clientTxId, news: { kind: "not-durable", failure } });
}
