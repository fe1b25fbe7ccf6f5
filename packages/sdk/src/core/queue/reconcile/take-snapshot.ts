import { ask, type Draft, set, touch } from "../../draft.ts";
import type { ClientEvent } from "../../events.ts";
import type { Rows } from "../../log/rows.ts";
import type { ClientState, QueueSnapshot, SharedQueue } from "../../state.ts";
import { takeRows } from "../../tabs/tabs.ts";
import type { Mutation } from "../mutation.ts";
import { find, inOrder, withChanged, withoutMutations } from "../queue.ts";
import { settleAll } from "../settle.ts";
import {
  addFound,
  COMING_MS,
  isOnItsWay,
  reloadQueue,
  share,
  takeAgain,
  takeInOrder,
  takePut,
  withPlace,
} from "../shared-queue.ts";
import { isWhole, lastSeq, seqSetUpTo, withSeqs } from "./seq-set.ts";

/**
 * How long missing writes may still arrive before the queue is reloaded from disk. The leader sends nothing meanwhile.
 */
const LEADER_WAITS_MS = 50;
const FOLLOWER_WAITS_MS = 1_000;
/** How many times the queue is reloaded to find writes that another tab announced. Each wait is five times as long. */
const LOOKS = 3;

/** Whether the stored queue may contain writes that this tab does not know. */
export const isBehind = ({ shared: { places, changes, early, told } }: ClientState): boolean =>
  early.length > 0 || !isWhole(places) || told.lastSeq > lastSeq(places) || told.changes > changes;

/** Whether this tab knows all writes before any that it may send. Only then may it send. */
export const knowsQueue = (state: ClientState): boolean =>
  state.storageTrouble !== undefined || (state.shared.looks === 0 && state.shared.dropping === 0 && !isBehind(state));

/** Replaces what this tab knows of the queue by the snapshot, except for writes that this tab is storing now. */
export function takeQueueSnapshot(draft: Draft, look: QueueSnapshot): void {
  const { shared, queue } = draft.state;
  if (look.changes < shared.changes) return reloadQueue(draft);
  const byPlace = new Map(look.mutations.map((m) => [m.seq, m]));
  const own = [...inOrder(queue)];
  const onTheWay = new Set([...own.filter(isOnItsWay), ...changedSince(shared, look)].map(({ seq }) => seq));
  const gone: Mutation[] = [];
  const again: { own: Mutation; found: Mutation }[] = [];
  for (const m of own) {
    if (m.seq === undefined || m.seq > look.lastSeq || onTheWay.has(m.seq)) continue;
    const there = byPlace.get(m.seq);
    if (there?.clientTxId === m.clientTxId) again.push({ own: m, found: there });
    else if (there && !find(draft.state.queue, there.clientTxId))
      takePut(draft, { mutation: there, over: asStanding(m) });
    else gone.push(m);
  }
  takeAgain(draft, again);
  touch(
    draft,
    gone.flatMap((m) => m.keys),
  );
  set(draft, {
    queue: withoutMutations(
      draft.state.queue,
      gone.map((m) => m.clientTxId),
    ),
  });
  const settled = shared.settled.filter(({ seq, clientTxId }) => byPlace.get(seq)?.clientTxId === clientTxId);
  const over = new Set(settled.map(({ seq }) => seq));
  takeFound(
    draft,
    look.mutations.filter(({ seq = 0 }) => !over.has(seq)),
    onTheWay,
  );
  // Writes that were stored after the snapshot are known too.
  const since = [...shared.places.ahead, ...own.map(({ seq = 0 }) => seq)].filter((seq) => seq > look.lastSeq);
  share(draft, {
    places: withSeqs(seqSetUpTo(look.lastSeq), since),
    changes: look.changes,
    settled,
  });
  takeInOrder(draft);
  ask(draft, { do: "lookUpOutcomes" });
}

/** The slots that this tab has changed since the snapshot. */
const changedSince = ({ early }: SharedQueue, { changes }: QueueSnapshot) =>
  early.flatMap(({ change, put, gone, isOwn }) =>
    isOwn && change > changes ? [...put.map(({ mutation }) => mutation), ...gone] : [],
  );

const asStanding = ({ clientTxId, seq = 0 }: Mutation) => ({ clientTxId, seq, phase: "queued" }) as const;

/** Adds the writes that this tab did not know. A write that was stored just now is known by its name only. */
function takeFound(draft: Draft, mutations: readonly Mutation[], onTheWay: ReadonlySet<number | undefined>): void {
  const { queue } = draft.state;
  const placed = mutations.flatMap((m) => {
    const own = find(queue, m.clientTxId);
    return own && own.seq === undefined ? [withPlace(own, m.seq)] : [];
  });
  set(draft, { queue: withChanged(queue, placed) });
  addFound(
    draft,
    mutations.filter((m) => !find(queue, m.clientTxId) && !onTheWay.has(m.seq)),
  );
}

export function onQueueRead(draft: Draft, { look, rows: which }: Extract<ClientEvent, { type: "queueRead" }>): void {
  share(draft, { looks: Math.max(0, draft.state.shared.looks - 1) });
  // The stored queue is out of reach, but the server may know the outcomes.
  if (draft.state.storageTrouble !== undefined) return ask(draft, { do: "lookUpOutcomes" });
  if (look.rows && (draft.state.lead !== "yes" || goOnFrom(draft.state.rows, look.rows)))
    takeRows(draft, look.rows, which === "other");
  takeQueueSnapshot(draft, look);
  settleAll(draft);
}

/** The leader takes rows from disk only if another tab, which leads by now, has read further in the same log. */
const goOnFrom = (own: Rows, found: Rows): boolean =>
  own.logId === found.logId && own.position !== undefined && own.position < (found.position ?? 0);

/** Reloads the queue from disk if missing writes have not arrived in time. */
export function reloadWhenBehind(draft: Draft): void {
  const { shared, lead, queue, storageTrouble } = draft.state;
  const { now } = draft;
  const behind = isBehind(draft.state);
  const gapAt = behind ? (shared.gapAt ?? now + (lead === "no" ? FOLLOWER_WAITS_MS : LEADER_WAITS_MS)) : undefined;
  const due = shared.coming.filter((c) => c.at <= now);
  const isMissing = lead === "yes" && due.some((c) => !find(queue, c.clientTxId));
  const isLate = gapAt !== undefined && gapAt <= now;
  if (storageTrouble !== undefined || (!isMissing && !isLate && due.length === 0 && gapAt === shared.gapAt)) return;
  const later = due
    .filter((c) => c.looks + 1 < LOOKS && !find(queue, c.clientTxId))
    .map((c) => ({ ...c, looks: c.looks + 1, at: now + COMING_MS * 5 ** (c.looks + 1) }));
  const coming = due.length > 0 ? [...shared.coming.filter((c) => c.at > now), ...later] : shared.coming;
  share(draft, { coming, gapAt: isLate ? undefined : gapAt });
  if ((isMissing || isLate) && shared.looks === 0) reloadQueue(draft);
}

/** When to reload the queue from disk if nothing else happens first. */
export const reloadDueAt = ({ shared: { gapAt, coming } }: ClientState): number | undefined => {
  const times = [...(gapAt === undefined ? [] : [gapAt]), ...coming.map((c) => c.at)];
  return times.length > 0 ? Math.min(...times) : undefined;
};
