import { isAnothers } from "../connection/auth.ts";
import { withhold } from "../connection/owner.ts";
import { ask, keep, set, type Turn } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { requeue } from "../queue/bulk-response.ts";
import { type Mutation, waitsForPerson } from "../queue/mutation.ts";
import { find, inOrder } from "../queue/queue.ts";
import { takeLook } from "../queue/queue-snapshot.ts";
import { offerAgain } from "../queue/rebase.ts";
import { extentOf, UNHEARD, writing } from "../queue/shared-queue.ts";
import type { ClientState, Look } from "../state.ts";
import { takeRows } from "./tabs.ts";

/*
 * One tab of a browser profile leads: it alone sends, reads the log and keeps on disk what comes of that.
 *
 *    no ──lock──► reading ──generation, queue──► yes ──stolen · the store says so · paused · another owner's token──► no
 */

type Of<T extends ClientEvent["type"]> = Extract<ClientEvent, { type: T }>;

/** Is in line for the lead. */
export function stand(turn: Turn): void {
  if (turn.state.storageTrouble === undefined) ask(turn, { do: "stand", wanted: true });
  else leads(turn);
}

/**
 * A leader whose token is another owner's sends and reads nothing, and with it all tabs would stand still. It steps down
 * where there are others, and stands again when it has another token.
 */
export function leadIfOwners(turn: Turn): void {
  const { lead, tabs, storageTrouble, paused } = turn.state;
  if (!isAnothers(turn.state)) {
    if (!tabs.abstains) return;
    set(turn, { tabs: { ...tabs, abstains: false } });
    if (!paused) stand(turn);
  } else if (lead !== "no" && tabs.listening && storageTrouble === undefined) {
    stepDown(turn);
    set(turn, { tabs: { ...turn.state.tabs, abstains: true } });
    ask(turn, { do: "stand", wanted: false });
  }
}

/** The disk cannot be had: this tab shares nothing with the others any more, sends for itself, and lets another one lead. */
export function standAlone(turn: Turn): void {
  ask(turn, { do: "stand", wanted: false });
  if (!turn.state.paused) leads(turn);
}

export function leads(turn: Turn): void {
  set(turn, { lead: "reading" });
  ask(turn, { do: "takeLead" });
}

export function tookLead(turn: Turn, { look, brought }: Of<"tookLead">): void {
  if (turn.state.lead === "no") return;
  const { generation } = look;
  const { storageTrouble, queue } = turn.state;
  const known = new Set([...inOrder(queue)].map((m) => m.clientTxId));
  if (storageTrouble === undefined) {
    // Rows that another one has kept are newer, or of the log that is there now.
    if (look.rows) takeRows(turn, look.rows, false);
    takeLook(turn, look);
  }
  set(turn, { lead: "yes", generation, tabs: { ...turn.state.tabs, line: undefined } });
  withhold(turn);
  const { tabs, rows } = turn.state;
  // Whoever put them on disk was killed before it could say so, or is about to.
  const found = look.mutations.filter(({ clientTxId }) => !known.has(clientTxId) && find(turn.state.queue, clientTxId));
  if (tabs.listening && found.length > 0)
    ask(turn, { do: "post", message: { type: "arrived", mutations: found, asOf: look.changes } });
  writing(turn, [UNHEARD]);
  // What this tab heard while it followed may not have reached the disk before the other one went.
  keepHeard(turn, generation);
  const names = new Set(brought.map((m) => m.clientTxId));
  keep(
    turn,
    [...inOrder(turn.state.queue)].filter((m) => isWorthKeeping(m) || names.has(m.clientTxId)),
  );
  if (rows.position !== undefined) offerAgain(turn, rows, "strays");
  ask(turn, { do: "post", message: { type: "leading", generation } });
}

/**
 * Another tab says that it leads. Of two that do, the one with the later generation stays: the store takes nothing from
 * the other any more.
 */
export function heardOfLeader(turn: Turn, { generation: theirs }: Of<"leading">): void {
  const { lead, generation: own, storageTrouble } = turn.state;
  if (lead === "yes" && own !== undefined && theirs !== undefined && storageTrouble === undefined) {
    if (theirs < own) return ask(turn, { do: "post", message: { type: "leading", generation: own } });
    deposed(turn);
  }
  set(turn, { tabs: { ...turn.state.tabs, line: undefined } });
  ask(turn, { do: "post", message: { type: "joined", ...extentOf(turn.state) } });
}

function keepHeard(turn: Turn, generation: number): void {
  const { rows, shared } = turn.state;
  const { logId, position } = rows;
  if (logId === undefined || position === undefined) return;
  const { settled } = shared;
  ask(turn, { do: "keepRows", logId, from: position, to: position, changes: [], settled, generation });
}

const isWorthKeeping = (m: Mutation): boolean => waitsForPerson(m) || m.lost !== undefined;

/** Another tab has taken the lead, as the disk says, and this one has not heard of it. */
export const isReplaced = ({ lead, generation = 0, storageTrouble }: ClientState, look: Look): boolean =>
  lead === "yes" && storageTrouble === undefined && look.generation > generation;

/** Another tab leads by now. What this one sent may have been taken or not: it is the other's to find out. */
export function deposed(turn: Turn, generation?: number): void {
  if (generation !== undefined && generation !== turn.state.generation) return;
  // Without a disk it sends for itself, whoever leads the others.
  if (turn.state.storageTrouble !== undefined) return;
  stepDown(turn);
  ask(turn, { do: "stand", wanted: !turn.state.paused });
}

export function stepDown(turn: Turn): void {
  const { sending, queue, lead, reading } = turn.state;
  if (lead === "no") return;
  requeue(
    turn,
    (sending.names ?? []).map((name) => find(queue, name)),
  );
  set(turn, {
    lead: "no",
    generation: undefined,
    sending: { ...sending, names: undefined, request: sending.request + 1 },
    reading: { ...reading, resync: reading.resync === "suspect" ? "no" : reading.resync },
  });
  ask(turn, { do: "abort" });
  // What the other one has said meanwhile was not heard as one who follows hears it.
  ask(turn, { do: "post", message: { type: "joined", ...extentOf(turn.state) } });
}
