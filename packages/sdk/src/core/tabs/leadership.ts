import { isAnothers } from "../connection/auth.ts";
import { withhold } from "../connection/owner.ts";
import { ask, type Draft, keep, set } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { requeue } from "../queue/bulk-response.ts";
import { type Mutation, waitsForPerson } from "../queue/mutation.ts";
import { find, inOrder } from "../queue/queue.ts";
import { takeQueueSnapshot } from "../queue/queue-snapshot.ts";
import { offerAgain } from "../queue/rebase.ts";
import { extentOf, onWriting, UNHEARD } from "../queue/shared-queue.ts";
import type { ClientState, QueueSnapshot } from "../state.ts";
import { takeRows } from "./tabs.ts";

/*
 * One tab of a browser profile leads: it alone sends, reads the log and keeps on disk what comes of that.
 *
 *    no ──lock──► reading ──generation, queue──► yes ──stolen · the store says so · paused · another owner's token──► no
 */

type Of<T extends ClientEvent["type"]> = Extract<ClientEvent, { type: T }>;

/** Is in line for the lead. */
export function campaign(draft: Draft): void {
  if (draft.state.storageTrouble === undefined) ask(draft, { do: "campaign", wanted: true });
  else onElected(draft);
}

/**
 * A leader whose token is another owner's sends and reads nothing, and with it all tabs would stand still. It steps down
 * where there are others, and stands again when it has another token.
 */
export function leadIfOwner(draft: Draft): void {
  const { lead, tabs, storageTrouble, paused } = draft.state;
  if (!isAnothers(draft.state)) {
    if (!tabs.abstains) return;
    set(draft, { tabs: { ...tabs, abstains: false } });
    if (!paused) campaign(draft);
  } else if (lead !== "no" && tabs.listening && storageTrouble === undefined) {
    stepDown(draft);
    set(draft, { tabs: { ...draft.state.tabs, abstains: true } });
    ask(draft, { do: "campaign", wanted: false });
  }
}

/** The disk cannot be had: this tab shares nothing with the others any more, sends for itself, and lets another one lead. */
export function leadAlone(draft: Draft): void {
  ask(draft, { do: "campaign", wanted: false });
  if (!draft.state.paused) onElected(draft);
}

export function onElected(draft: Draft): void {
  set(draft, { lead: "reading" });
  ask(draft, { do: "takeLead" });
}

export function onLeadTaken(draft: Draft, { look, brought }: Of<"leadTaken">): void {
  if (draft.state.lead === "no") return;
  const { generation } = look;
  const { storageTrouble, queue } = draft.state;
  const known = new Set([...inOrder(queue)].map((m) => m.clientTxId));
  if (storageTrouble === undefined) {
    // Rows that another one has kept are newer, or of the log that is there now.
    if (look.rows) takeRows(draft, look.rows, false);
    takeQueueSnapshot(draft, look);
  }
  set(draft, { lead: "yes", generation, tabs: { ...draft.state.tabs, line: undefined } });
  withhold(draft);
  const { tabs, rows } = draft.state;
  // Whoever put them on disk was killed before it could say so, or is about to.
  const found = look.mutations.filter(
    ({ clientTxId }) => !known.has(clientTxId) && find(draft.state.queue, clientTxId),
  );
  if (tabs.listening && found.length > 0)
    ask(draft, { do: "post", message: { type: "arrived", mutations: found, asOf: look.changes } });
  onWriting(draft, [UNHEARD]);
  // What this tab heard while it followed may not have reached the disk before the other one went.
  keepHeard(draft, generation);
  const names = new Set(brought.map((m) => m.clientTxId));
  keep(
    draft,
    [...inOrder(draft.state.queue)].filter((m) => isWorthKeeping(m) || names.has(m.clientTxId)),
  );
  if (rows.position !== undefined) offerAgain(draft, rows, "strays");
  ask(draft, { do: "post", message: { type: "leading", generation } });
}

/**
 * Another tab says that it leads. Of two that do, the one with the later generation stays: the store takes nothing from
 * the other any more.
 */
export function onOtherLeader(draft: Draft, { generation: theirs }: Of<"leading">): void {
  const { lead, generation: own, storageTrouble } = draft.state;
  if (lead === "yes" && own !== undefined && theirs !== undefined && storageTrouble === undefined) {
    if (theirs < own) return ask(draft, { do: "post", message: { type: "leading", generation: own } });
    onFenced(draft);
  }
  set(draft, { tabs: { ...draft.state.tabs, line: undefined } });
  ask(draft, { do: "post", message: { type: "joined", ...extentOf(draft.state) } });
}

function keepHeard(draft: Draft, generation: number): void {
  const { rows, shared } = draft.state;
  const { logId, position } = rows;
  if (logId === undefined || position === undefined) return;
  const { settled } = shared;
  ask(draft, { do: "keepRows", logId, from: position, to: position, changes: [], settled, generation });
}

const isWorthKeeping = (m: Mutation): boolean => waitsForPerson(m) || m.lost !== undefined;

/** Another tab has taken the lead, as the disk says, and this one has not heard of it. */
export const isFenced = ({ lead, generation = 0, storageTrouble }: ClientState, look: QueueSnapshot): boolean =>
  lead === "yes" && storageTrouble === undefined && look.generation > generation;

/** Another tab leads by now. What this one sent may have been taken or not: it is the other's to find out. */
export function onFenced(draft: Draft, generation?: number): void {
  if (generation !== undefined && generation !== draft.state.generation) return;
  // Without a disk it sends for itself, whoever leads the others.
  if (draft.state.storageTrouble !== undefined) return;
  stepDown(draft);
  ask(draft, { do: "campaign", wanted: !draft.state.paused });
}

export function stepDown(draft: Draft): void {
  const { sending, queue, lead, reading } = draft.state;
  if (lead === "no") return;
  requeue(
    draft,
    (sending.names ?? []).map((name) => find(queue, name)),
  );
  set(draft, {
    lead: "no",
    generation: undefined,
    sending: { ...sending, names: undefined, request: sending.request + 1 },
    reading: { ...reading, resync: reading.resync === "suspect" ? "no" : reading.resync },
  });
  ask(draft, { do: "abort" });
  // What the other one has said meanwhile was not heard as one who follows hears it.
  ask(draft, { do: "post", message: { type: "joined", ...extentOf(draft.state) } });
}
