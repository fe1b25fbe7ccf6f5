import { isAnothers } from "../connection/auth.ts";
import { updateWithheld } from "../connection/owner.ts";
import { type Draft, emit, keep, set } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { leaveSuspicion } from "../log/reading-state.ts";
import { isUndated, tooOld } from "../queue/age.ts";
import { leaveSending, reject } from "../queue/bulk-response.ts";
import { type Mutation, waitsForPerson } from "../queue/mutation.ts";
import { offerAgain } from "../queue/offer-again.ts";
import { find, inOrder } from "../queue/queue.ts";
import { UNKNOWN_WRITES } from "../queue/reconcile/reconcile.ts";
import { queueNumbersOf, reconcileQueue } from "../queue/shared-queue.ts";
import type { ClientState, QueueSnapshot, TabsState } from "../state.ts";
import { takeQueueRead, takeRows } from "./follower.ts";
import { changeTabs } from "./tabs-state.ts";

/*
 * One tab of a browser profile is the leader. Only the leader sends writes, follows the log
 * and stores the results. All other tabs are followers: they receive its messages over a BroadcastChannel, and read what
 * they missed.
 *
 * no ──lock──► reading ──generation, queue──► yes ──stolen · fenced by the store · paused · another owner's token──► no
 *
 * Each new leader raises the generation in the store, so that the store refuses changes of an older leader that has not
 * noticed that it was replaced.
 */

type Of<T extends ClientEvent["type"]> = Extract<ClientEvent, { type: T }>;

/** Takes part in the election. */
function campaign(draft: Draft): void {
  if (draft.state.storageTrouble === undefined) emit(draft, { do: "campaign", wanted: true });
  else onElected(draft);
}

/**
 * A leader with another owner's token sends and reads nothing, and all tabs would stand still. If there are other tabs,
 * it steps down. It campaigns again when it gets another token.
 */
export function leadIfOwner(draft: Draft): void {
  const { lead, tabs, storageTrouble, paused } = draft.state;
  if (!isAnothers(draft.state)) {
    if (!tabs.skipsElection) return;
    changeTabs(draft, { skipsElection: false });
    if (!paused) campaign(draft);
  } else if (lead !== "no" && tabs.listening && storageTrouble === undefined) {
    stepDown(draft);
    changeTabs(draft, { skipsElection: true });
    emit(draft, { do: "campaign", wanted: false });
  }
}

/**
 * The disk has failed. This tab shares nothing with the others any more: it sends its own writes, and another tab
 * leads.
 */
export function leadAlone(draft: Draft): void {
  emit(draft, { do: "campaign", wanted: false });
  if (!draft.state.paused) onElected(draft);
}

export function onElected(draft: Draft): void {
  set<TabsState>(draft, { lead: "reading" });
  emit(draft, { do: "takeLead" });
}

export function onLeadTaken(draft: Draft, { snapshot, converted }: Of<"leadTaken">): void {
  if (draft.state.lead === "no") return;
  const { generation } = snapshot;
  const { storageTrouble, queue } = draft.state;
  const known = new Set([...inOrder(queue)].map((m) => m.clientTxId));
  if (storageTrouble === undefined) {
    // Rows that another leader stored are newer, or belong to the log that is current now.
    if (snapshot.rows) takeRows(draft, snapshot.rows, false);
    reconcileQueue(draft, { type: "leadTaken", snapshot });
  }
  set<TabsState>(draft, { lead: "yes", generation });
  changeTabs(draft, { connection: undefined });
  updateWithheld(draft);
  // Now, because in some weeks their time comes.
  for (const m of [...inOrder(draft.state.queue)])
    if (m.stage.phase === "queued" && isUndated(m, draft)) reject(draft, [m], tooOld(m, draft));
  const { tabs, rows } = draft.state;
  // The tab that stored these writes was killed before it could post them, or is about to post them.
  const found = snapshot.mutations.filter(
    ({ clientTxId }) => !known.has(clientTxId) && find(draft.state.queue, clientTxId),
  );
  if (tabs.listening && found.length > 0)
    emit(draft, { do: "post", message: { type: "arrived", mutations: found, asOf: snapshot.changes } });
  reconcileQueue(draft, { type: "writing", clientTxIds: [UNKNOWN_WRITES] });
  // The previous leader may have stopped before it stored the log entries that this tab received as a follower.
  keepReceived(draft, generation);
  const names = new Set(converted.map((m) => m.clientTxId));
  keep(
    draft,
    [...inOrder(draft.state.queue)].filter((m) => isWorthKeeping(m) || names.has(m.clientTxId)),
  );
  if (rows.position !== undefined) offerAgain(draft, rows, "from-other-log");
  emit(draft, { do: "post", message: { type: "leading", generation } });
}

/**
 * Another tab reports that it leads. The leader with the higher generation stays: the store refuses changes from the
 * other.
 */
export function onOtherLeader(draft: Draft, { generation: theirs }: Of<"leading">): void {
  const { lead, generation: own, storageTrouble } = draft.state;
  if (lead === "yes" && own !== undefined && storageTrouble === undefined) {
    if (theirs < own) return emit(draft, { do: "post", message: { type: "leading", generation: own } });
    onFenced(draft);
  }
  changeTabs(draft, { connection: undefined });
  emit(draft, { do: "post", message: { type: "joined", ...queueNumbersOf(draft.state) } });
}

function keepReceived(draft: Draft, generation: number): void {
  const { rows, shared } = draft.state;
  const { logId, position } = rows;
  if (logId === undefined || position === undefined) return;
  const { settled } = shared;
  emit(draft, { do: "keepRows", logId, from: position, to: position, changes: [], settled, generation });
}

const isWorthKeeping = (m: Mutation): boolean => waitsForPerson(m) || m.lost !== undefined;

/** Whether the snapshot shows that another tab has become the leader without this one noticing. */
const isFenced = ({ lead, generation = 0, storageTrouble }: ClientState, snapshot: QueueSnapshot): boolean =>
  lead === "yes" && storageTrouble === undefined && snapshot.generation > generation;

/** The app has paused this tab: another one leads. */
export function onPaused(draft: Draft): void {
  stepDown(draft);
  emit(draft, { do: "campaign", wanted: false });
}

export function onResumed(draft: Draft): void {
  if (draft.before?.paused) campaign(draft);
}

/** The disk has answered a reload, and may show that another tab leads. */
export function onQueueRead(draft: Draft, event: Of<"queueRead">): void {
  if (isFenced(draft.state, event.snapshot)) onFenced(draft);
  takeQueueRead(draft, event);
}

/** Another tab leads now. It finds out whether the server has committed what this tab sent. */
export function onFenced(draft: Draft, generation?: number): void {
  if (generation !== undefined && generation !== draft.state.generation) return;
  // Without a disk, the tab sends its own writes, whichever tab leads the others.
  if (draft.state.storageTrouble !== undefined) return;
  stepDown(draft);
  emit(draft, { do: "campaign", wanted: !draft.state.paused });
}

function stepDown(draft: Draft): void {
  if (draft.state.lead === "no") return;
  leaveSending(draft);
  set<TabsState>(draft, { lead: "no", generation: undefined });
  leaveSuspicion(draft);
  emit(draft, { do: "abort" });
  // While this tab led, it did not process the other leader's messages as a follower does. Request the current state.
  emit(draft, { do: "post", message: { type: "joined", ...queueNumbersOf(draft.state) } });
}
