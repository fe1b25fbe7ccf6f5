import { ask, set, type Turn, touch } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import type { Rows } from "../log/rows.ts";
import type { ClientState, Look, SharedQueue } from "../state.ts";
import { takeRows } from "../tabs/tabs.ts";
import type { Mutation } from "./mutation.ts";
import { changed, find, inOrder, removed } from "./queue.ts";
import { isWhole, lastOf, ledgerUpTo, noted } from "./seq-set.ts";
import { settleAll } from "./settle.ts";
import {
  addFound,
  COMING_MS,
  isOnItsWay,
  lookAgain,
  share,
  takeAgain,
  takeInTurn,
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
  early.length > 0 || !isWhole(places) || told.lastSeq > lastOf(places) || told.changes > changes;

/** Whether what lies before a write is known: only then may it be sent. */
export const knowsQueue = (state: ClientState): boolean =>
  state.storageTrouble !== undefined || (state.shared.looks === 0 && state.shared.dropping === 0 && !isBehind(state));

/** What lies on disk stands in for what was known of it, but for what is on its way there from here. */
export function takeLook(turn: Turn, look: Look): void {
  const { shared, queue } = turn.state;
  if (look.changes < shared.changes) return lookAgain(turn);
  const byPlace = new Map(look.mutations.map((m) => [m.seq, m]));
  const own = [...inOrder(queue)];
  const onTheWay = new Set([...own.filter(isOnItsWay), ...changedSince(shared, look)].map(({ seq }) => seq));
  const gone: Mutation[] = [];
  const again: { own: Mutation; found: Mutation }[] = [];
  for (const m of own) {
    if (m.seq === undefined || m.seq > look.lastSeq || onTheWay.has(m.seq)) continue;
    const there = byPlace.get(m.seq);
    if (there?.clientTxId === m.clientTxId) again.push({ own: m, found: there });
    else if (there && !find(turn.state.queue, there.clientTxId))
      takePut(turn, { mutation: there, over: asStanding(m) });
    else gone.push(m);
  }
  takeAgain(turn, again);
  touch(
    turn,
    gone.flatMap((m) => m.keys),
  );
  set(turn, {
    queue: removed(
      turn.state.queue,
      gone.map((m) => m.clientTxId),
    ),
  });
  const settled = shared.settled.filter(({ seq, clientTxId }) => byPlace.get(seq)?.clientTxId === clientTxId);
  const over = new Set(settled.map(({ seq }) => seq));
  takeFound(
    turn,
    look.mutations.filter(({ seq = 0 }) => !over.has(seq)),
    onTheWay,
  );
  // What was put there after the look is known too.
  const since = [...shared.places.ahead, ...own.map(({ seq = 0 }) => seq)].filter((seq) => seq > look.lastSeq);
  share(turn, {
    places: noted(ledgerUpTo(look.lastSeq), since),
    changes: look.changes,
    settled,
  });
  takeInTurn(turn);
  ask(turn, { do: "inquire" });
}

/** The places that this tab has changed after the look. */
const changedSince = ({ early }: SharedQueue, { changes }: Look) =>
  early.flatMap(({ change, put, gone, isOwn }) =>
    isOwn && change > changes ? [...put.map(({ mutation }) => mutation), ...gone] : [],
  );

const asStanding = ({ clientTxId, seq = 0 }: Mutation) => ({ clientTxId, seq, phase: "queued" }) as const;

/** What was not known here. One that was just put on disk is known by its name only. */
function takeFound(turn: Turn, mutations: readonly Mutation[], onTheWay: ReadonlySet<number | undefined>): void {
  const { queue } = turn.state;
  const placed = mutations.flatMap((m) => {
    const own = find(queue, m.clientTxId);
    return own && own.seq === undefined ? [withPlace(own, m.seq)] : [];
  });
  set(turn, { queue: changed(queue, placed) });
  addFound(
    turn,
    mutations.filter((m) => !find(queue, m.clientTxId) && !onTheWay.has(m.seq)),
  );
}

export function looked(turn: Turn, { look, rows: which }: Extract<ClientEvent, { type: "looked" }>): void {
  share(turn, { looks: Math.max(0, turn.state.shared.looks - 1) });
  // What was to be found there is not known any more, but perhaps to the server.
  if (turn.state.storageTrouble !== undefined) return ask(turn, { do: "inquire" });
  if (look.rows && (turn.state.lead !== "yes" || goOnFrom(turn.state.rows, look.rows)))
    takeRows(turn, look.rows, which === "other");
  takeLook(turn, look);
  settleAll(turn);
}

/** To the tab that leads they are news only if another one, which leads by now, has read further. */
const goOnFrom = (own: Rows, found: Rows): boolean =>
  own.logId === found.logId && own.position !== undefined && own.position < (found.position ?? 0);

/** Looks at the disk when what is missing has not come. */
export function lookWhenBehind(turn: Turn): void {
  const { shared, lead, queue, storageTrouble } = turn.state;
  const { now } = turn;
  const behind = isBehind(turn.state);
  const gapAt = behind ? (shared.gapAt ?? now + (lead === "no" ? FOLLOWER_WAITS_MS : LEADER_WAITS_MS)) : undefined;
  const due = shared.coming.filter((c) => c.at <= now);
  const isMissing = lead === "yes" && due.some((c) => !find(queue, c.clientTxId));
  const isLate = gapAt !== undefined && gapAt <= now;
  if (storageTrouble !== undefined || (!isMissing && !isLate && due.length === 0 && gapAt === shared.gapAt)) return;
  const later = due
    .filter((c) => c.looks + 1 < LOOKS && !find(queue, c.clientTxId))
    .map((c) => ({ ...c, looks: c.looks + 1, at: now + COMING_MS * 5 ** (c.looks + 1) }));
  const coming = due.length > 0 ? [...shared.coming.filter((c) => c.at > now), ...later] : shared.coming;
  share(turn, { coming, gapAt: isLate ? undefined : gapAt });
  if ((isMissing || isLate) && shared.looks === 0) lookAgain(turn);
}

/** When the disk is to be looked at, if nothing else happens. */
export const lookDueAt = ({ shared: { gapAt, coming } }: ClientState): number | undefined => {
  const times = [...(gapAt === undefined ? [] : [gapAt]), ...coming.map((c) => c.at)];
  return times.length > 0 ? Math.min(...times) : undefined;
};
