import { ownerOfTab } from "../connection/owner-name.ts";
import { type Draft, emit, set, touch } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import type { QueueState } from "../state.ts";
import { asNew, wallOf } from "./age.ts";
import { DISCARDED, TOO_LATE } from "./discarded.ts";
import type { Failure } from "./failure.ts";
import { expectedSlot, keysOf, type Mutation } from "./mutation.ts";
import { find } from "./queue.ts";
import { withChanged, withoutMutations, withReplaced } from "./queue-changes.ts";
import { serialized } from "./serialized.ts";

export function onDecided(draft: Draft, { plan, newTxId }: Extract<ClientEvent, { type: "decided" }>): void {
  if (!plan || find(draft.state.queue, plan.write.clientTxId) !== plan.write) return tooLate(draft, newTxId);
  const over = expectedSlot(plan.write);
  if (!over) return tooLate(draft, newTxId);
  const { write, instead, again } = plan;
  if (!instead) notifyFailed(draft, newTxId, DISCARDED);
  const put = [
    ...(instead ? [{ before: write, mutation: newName(draft, instead, newTxId), over }] : []),
    ...again.flatMap((m) => (m.operations.length > 0 ? putAgain(draft, m) : [])),
  ];
  const given = [...(instead ? [] : [write]), ...again.filter((m) => m.operations.length === 0)];
  // What is not on disk yet is stored with the last values that it has by then.
  const unsaved = again.filter((m) => !expectedSlot(m) && hasSameText(draft, m));
  set<QueueState>(draft, { queue: withChanged(draft.state.queue, unsaved) });
  for (const { before, mutation } of put)
    set<QueueState>(draft, { queue: withReplaced(draft.state.queue, before.clientTxId, mutation) });
  set<QueueState>(draft, {
    queue: withoutMutations(
      draft.state.queue,
      given.map((m) => m.clientTxId),
    ),
  });
  touch(
    draft,
    [...put.flatMap(({ before, mutation }) => [before, mutation]), ...given, ...unsaved].flatMap((m) => m.keys),
  );
  // One atomic change, so that a reader of the stored queue sees the whole decision or none of it.
  const change = { put: put.map(({ mutation, over }) => ({ mutation, over })), drop: given.flatMap(slotsOf) };
  emit(draft, { do: "persist", changes: [change] });
  const { shared } = draft.state;
  if (change.drop.length > 0) set<QueueState>(draft, { shared: { ...shared, dropping: shared.dropping + 1 } });
}

const slotsOf = (m: Mutation) => expectedSlot(m) ?? [];

/** The write that the person decided about was replaced or removed meanwhile, so nothing is stored. */
function tooLate(draft: Draft, clientTxId: string): void {
  emit(draft, { do: "notify", clientTxId, news: { kind: "not-durable", failure: TOO_LATE } });
  notifyFailed(draft, clientTxId, TOO_LATE);
}

const notifyFailed = (draft: Draft, clientTxId: string, failure: Failure): void =>
  emit(draft, { do: "notify", clientTxId, news: { kind: "failed", failure } });

function newName(draft: Draft, next: Mutation, newTxId: string): Mutation {
  const owner = ownerOfTab(draft.state) ?? null;
  const fresh = { ...next, owner, clientTxId: newTxId, attempts: 0, echoed: [], createdAt: wallOf(draft) };
  return reseal(draft, asNew({ ...fresh, merges: undefined }, draft));
}

/** Only what it knows of its records has changed. */
const hasSameText = ({ state }: Draft, m: Mutation): boolean =>
  find(state.queue, m.clientTxId)?.operations === m.operations;

/**
 * A later write whose text stays goes on as it is. One whose text has changed keeps its name. Behind a conflicted or rejected write it was never committed; if
 * it was after all, the server refuses a different text under the same name instead of committing it twice.
 */
function putAgain(draft: Draft, m: Mutation) {
  const over = expectedSlot(m);
  return over ? [{ before: m, mutation: hasSameText(draft, m) ? m : reseal(draft, m), over }] : [];
}

function reseal(draft: Draft, m: Mutation): Mutation {
  const { clientId, rows } = draft.state;
  return serialized({ ...m, keys: keysOf(m.operations), stage: { phase: "saving" } }, clientId, rows);
}
