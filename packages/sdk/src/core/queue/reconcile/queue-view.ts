import type { Effect, News, WhichRows } from "../../effects.ts";
import type { Rows } from "../../log/rows.ts";
import { newsOf } from "../../news.ts";
import type { ClientState, SharedQueue } from "../../state.ts";
import { DISCARDED } from "../discarded.ts";
import type { Failure } from "../failure.ts";
import type { Mutation } from "../mutation.ts";
import { find, type Queue } from "../queue.ts";
import { withoutMutations } from "../queue-changes.ts";
import { seqSetUpTo, withSeqs } from "./seq-set.ts";

/** This tab's view of the queue on disk. */
export interface QueueView extends SharedQueue {
  readonly queue: Queue;
}

/** What the reconciliation reads of the rest of the client. */
export interface QueueFacts extends Pick<ClientState, "lead" | "storageTrouble"> {
  readonly now: number;
  /** The log of the rows, and how far they have read it. */
  readonly rows: Pick<Rows, "logId" | "position">;
}

export type QueueEffect =
  | Extract<Effect, { do: "notify" | "readQueue" | "lookUpOutcomes" }>
  /** The view of these records may have changed. */
  | { readonly do: "touch"; readonly keys: readonly string[] }
  /** Confirmed writes may be settled now. */
  | { readonly do: "settle" }
  /** If some of these writes belong to another log than the rows, offers them again. */
  | { readonly do: "offerFromOtherLog"; readonly writes: readonly Mutation[] }
  /** The stored writes may lack last values of their records. */
  | { readonly do: "keep"; readonly writes: readonly Mutation[] };

/** The mutable state inside one reconciliation: the view, and the effects so far. */
export interface Reconciliation {
  view: QueueView;
  readonly facts: QueueFacts;
  readonly effects: QueueEffect[];
}

export function update(r: Reconciliation, change: Partial<QueueView>): void {
  r.view = { ...r.view, ...change };
}

export const emit = (r: Reconciliation, effect: QueueEffect): void => void r.effects.push(effect);

export const touch = (r: Reconciliation, mutations: readonly Mutation[]): void =>
  emit(r, { do: "touch", keys: mutations.flatMap((m) => m.keys) });

export const notify = (r: Reconciliation, clientTxId: string, news: News): void =>
  emit(r, { do: "notify", clientTxId, news });

/** Notifies of the outcome of a write, if it has one. */
export function notifyOutcome(r: Reconciliation, m: Mutation): void {
  const news = newsOf(m);
  if (news) notify(r, m.clientTxId, news);
}

/** Removes a write whose caller learns that it failed. */
export function giveUp(r: Reconciliation, clientTxId: string, failure: Failure = DISCARDED): void {
  const write = find(r.view.queue, clientTxId);
  if (write) touch(r, [write]);
  update(r, { queue: withoutMutations(r.view.queue, [clientTxId]) });
  notify(r, clientTxId, { kind: "failed", failure });
}

/** Records `seq` numbers of writes that this tab knows from now on. */
export function noteSeqs(r: Reconciliation, seqs: readonly number[]): void {
  update(r, { seqs: withSeqs(r.view.seqs, seqs) });
}

/** Reloads the queue from disk. Forgets earlier announcements: the reload finds those writes, or they no longer exist. */
export function reload(r: Reconciliation, rows: WhichRows = "further"): void {
  if (r.facts.storageTrouble !== undefined) return;
  const { reloads, seqs } = r.view;
  const knownElsewhere = { lastSeq: 0, changes: 0 };
  update(r, { reloads: reloads + 1, outOfOrder: [], knownElsewhere, seqs: seqSetUpTo(seqs.upTo) });
  emit(r, { do: "readQueue", rows });
}

/**
 * This tab is storing the write in a slot that contained another write. The disk's answer decides whether it gets
 * there.
 */
export const isOnItsWay = ({ stage, seq }: Mutation): boolean => stage.phase === "saving" && seq !== undefined;

export const withSeq = (m: Mutation, seq: number | undefined): Mutation => ({
  ...m,
  seq,
  stage: m.stage.phase === "saving" ? { phase: "queued" } : m.stage,
});
