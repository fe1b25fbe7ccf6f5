import { refreshed } from "../conflicts/refreshed.ts";
import { checkOwner, restoreOwner } from "../connection/owner.ts";
import { ownerOfTab } from "../connection/owner-name.ts";
import { noteTrouble } from "../connection/trouble.ts";
import { type Draft, emit, set, touch } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import type { Rows } from "../log/rows.ts";
import { checkScope, restoreRows } from "../log/scope.ts";
import { onServerTime } from "../queue/age.ts";
import { nameTaken } from "../queue/failure.ts";
import type { Mutation } from "../queue/mutation.ts";
import { find, inOrder } from "../queue/queue.ts";
import { restoreQueue } from "../queue/shared-queue.ts";
import { take } from "../queue/writes.ts";
import type { StoreState } from "../state.ts";
import { changeTabs } from "../tabs/tabs-state.ts";

/** The local store has been read. Writes that the app made meanwhile go behind the stored ones. */
export function onRestored(draft: Draft, event: Extract<ClientEvent, { type: "restored" }>): void {
  const early = [...inOrder(draft.state.queue)];
  const { choosing } = draft.state;
  const { clientId, storeId, rows } = event;
  set<StoreState>(draft, { life: "running", choosing: undefined, clientId, storeId });
  if (choosing) noteTrouble(draft, undefined);
  restoreOwner(draft, event);
  restoreRows(draft, event);
  const stored = event.mutations.map((m) => ({ ...m, echoed: areIn(rows, m) ? m.echoed : [] }));
  restoreQueue(draft, stored, event);
  changeTabs(draft, { areShared: event.areShared ?? false });
  onServerTime(draft, event);
  checkScope(draft);
  checkOwner(draft);
  touch(draft, "everything");
  // The view is computed at the end of each step. Compute it now only if early writes need their base values.
  if (early.length === 0) return;
  draft.state = refreshed(draft.state, draft.state);
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
