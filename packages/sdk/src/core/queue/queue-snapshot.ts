import { ask, type Draft, set, touch } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import type { Rows } from "../log/rows.ts";
import type { ClientState, QueueSnapshot, SharedQueue } from "../state.ts";
import { takeRows } from "../tabs/tabs.ts";
import type { Mutation } from "./mutation.ts";
import { find, inOrder, withChanged, withoutMutations } from "./queue.ts";
import { isWhole, lastSeq, seqSetUpTo, withSeqs } from "./seq-set.ts";
import { settleAll } from "./settle.ts";
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
} from "./shared-queue.ts";

/** How long what is missing may still be on its way before the disk is looked at. The tab that leads sends nothing meanwhile. */
const LEADER_WAITS_MS = 50;
const FOLLOWER_WAITS_MS = 1_000;
/** So often what another tab said that it puts on disk is looked for, each time five times as late. */
const LOOKS = 3;

/** Whether the queue on disk may hold what this tab does not know of. */
export const isBehind = ({ shared: { places, changes, early, told } }: ClientState): boolean =>
  early.length > 0 || !isWhole(places) || told.lastSeq > lastSeq(places) || told.changes > changes;

/** Whether what lies before a write is known: only then may it be sent. */
export const knowsQueue = (state: ClientState): boolean =>
  state.storageTrouble !== undefined || (state.shared.looks === 0 && state.shared.dropping === 0 && !isBehind(state));

/** What lies on disk stands in for what was known of it, but for what is on its way there from here. */
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
  // What was put there after the look is known too.
  const since = [...shared.places.ahead, ...own.map(({ seq = 0 }) => seq)].filter((seq) => seq > look.lastSeq);
  share(draft, {
    places: withSeqs(seqSetUpTo(look.lastSeq), since),
    changes: look.changes,
    settled,
  });
  takeInOrder(draft);
  ask(draft, { do: "lookUpOutcomes" });
}

/** The places that this tab has changed after the look. */
const changedSince = ({ early }: SharedQueue, { changes }: QueueSnapshot) =>
  early.flatMap(({ change, put, gone, isOwn }) =>
    isOwn && change > changes ? [...put.map(({ mutation }) => mutation), ...gone] : [],
  );

const asStanding = ({ clientTxId, seq = 0 }: Mutation) => ({ clientTxId, seq, phase: "queued" }) as const;

/** What was not known here. One that was just put on disk is known by its name only. */
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
  // What was to be found there is not known any more, but perhaps to the server.
  if (draft.state.storageTrouble !== undefined) return ask(draft, { do: "lookUpOutcomes" });
  if (look.rows && (draft.state.lead !== "yes" || goOnFrom(draft.state.rows, look.rows)))
    takeRows(draft, look.rows, which === "other");
  takeQueueSnapshot(draft, look);
  settleAll(draft);
}

/** To the tab that leads they are news only if another one, which leads by now, has read further. */
const goOnFrom = (own: Rows, found: Rows): boolean =>
  own.logId === found.logId && own.position !== undefined && own.position < (found.position ?? 0);

/** Looks at the disk when what is missing has not come. */
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

/** When the disk is to be looked at, if nothing else happens. */
export const reloadDueAt = ({ shared: { gapAt, coming } }: ClientState): number | undefined => {
  const times = [...(gapAt === undefined ? [] : [gapAt]), ...coming.map((c) => c.at)];
  return times.length > 0 ? Math.min(...times) : undefined;
};
