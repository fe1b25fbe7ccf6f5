import { ask, type Draft, set, touch } from "../draft.ts";
import type { News, WhichRows } from "../effects.ts";
import type { ClientEvent } from "../events.ts";
import { newsOf } from "../news.ts";
import type { ClientState, EarlyChange, SharedQueue } from "../state.ts";
import type { Extent, QueueChanged } from "../tabs/tab-message.ts";
import { type Failure, localFailure } from "./failure.ts";
import { type ExpectedSlot, lastingPhase, type Mutation, type Put, type Removed } from "./mutation.ts";
import { find, withChanged, withMutations, withoutMutations, withReplaced } from "./queue.ts";
import { isStray, offerAgain } from "./rebase.ts";
import { hasSeq, lastSeq, seqSetUpTo, withSeqs } from "./reconcile/seq-set.ts";
import { settleAll } from "./settle.ts";

/*
 * The queue on disk is the source of truth, and all tabs change it. Each tab appends its own writes, the leader stores
 * their outcomes, and any tab may store a person's decision.
 *
 * A new write gets the next `seq`; every other change gets the next change number. The numbers show a tab which writes
 * and changes it has not received. A tab applies changes in number order, whichever tab made them. If one does not
 * arrive, because its tab was killed before it could post it, the tab reloads the queue from disk.
 */

/** How long another tab may take to store the writes that it announced. */
export const COMING_MS = 2_000;

export function share(draft: Draft, change: Partial<SharedQueue>): void {
  set(draft, { shared: { ...draft.state.shared, ...change } });
}

/** Records `seq` numbers of writes that this tab knows from now on. */
function notePlaces(draft: Draft, seqs: readonly number[]): void {
  share(draft, { places: withSeqs(draft.state.shared.places, seqs) });
}

/** The disk has applied the changes of this tab, or refused them because they came too late. */
export function onPersisted(
  draft: Draft,
  { done, refused, change }: Extract<ClientEvent, { type: "persisted" }>,
): void {
  const put = done.flatMap((d) => d.put);
  const ended = [...done, ...refused].filter((d) => d.drop.length > 0);
  share(draft, { dropping: Math.max(0, draft.state.shared.dropping - ended.length) });
  const saved = put.flatMap(({ mutation: { clientTxId, seq } }) => {
    const write = find(draft.state.queue, clientTxId);
    return write && (write.stage.phase === "saving" || write.seq === undefined) ? [withPlace(write, seq)] : [];
  });
  set(draft, { queue: withChanged(draft.state.queue, saved) });
  for (const { mutation, over } of put) {
    const { clientTxId } = mutation;
    const isRenamed = over !== undefined && over.clientTxId !== clientTxId;
    if (isRenamed) notifyReplaced(draft, over, clientTxId);
    ask(draft, { do: "notify", clientTxId, news: kept(draft.state) });
    if (isRenamed) notifyEarly(draft, clientTxId);
  }
  const gone = done.flatMap((d) => d.drop);
  for (const { clientTxId } of gone) giveUp(draft, clientTxId, localFailure("discarded"));
  notePlaces(
    draft,
    put.map(({ mutation: { seq = 0 } }) => seq),
  );
  if (change !== undefined) onChanged(draft, { type: "changed", change, put, gone, isOwn: true });
  offerStrays(draft, saved);
  if (refused.length === 0) return;
  for (const { mutation, over } of refused.flatMap((d) => d.put)) takeBack(draft, mutation, over);
  reloadQueue(draft);
}

/** Reverts a write that did not get its slot. If only its text was to change, the stored version stays. */
function takeBack(draft: Draft, { clientTxId, keys }: Mutation, over: ExpectedSlot | undefined): void {
  const late = localFailure("discarded", "It was resolved in another tab, or settled.");
  if (over?.clientTxId !== clientTxId) return giveUp(draft, clientTxId, late);
  touch(draft, keys);
  set(draft, { queue: withoutMutations(draft.state.queue, [clientTxId]) });
}

/** A write continues under another name. If it was waiting for a person, it ended with the decision. */
function notifyReplaced(draft: Draft, { clientTxId, phase }: ExpectedSlot, to: string): void {
  const news: News =
    phase === "queued" ? { kind: "renamed", to } : { kind: "failed", failure: localFailure("discarded") };
  ask(draft, { do: "notify", clientTxId, news });
}

/** Reports an outcome that arrived under the new name before callers could wait for it. */
function notifyEarly(draft: Draft, clientTxId: string): void {
  const write = find(draft.state.queue, clientTxId);
  if (write) notifyNews(draft, write);
  else ask(draft, { do: "lookUpOutcomes" });
}

const kept = ({ storageTrouble }: ClientState): News =>
  storageTrouble === undefined
    ? { kind: "queued" }
    : { kind: "not-durable", failure: localFailure("storage_failed", storageTrouble.reason) };

function giveUp(draft: Draft, clientTxId: string, failure: Failure): void {
  touch(draft, find(draft.state.queue, clientTxId)?.keys ?? []);
  set(draft, { queue: withoutMutations(draft.state.queue, [clientTxId]) });
  ask(draft, { do: "notify", clientTxId, news: { kind: "failed", failure } });
}

/** Another tab has stored new writes. */
export function onArrived(draft: Draft, mutations: readonly Mutation[], asOf = Number.POSITIVE_INFINITY): void {
  const { queue, shared } = draft.state;
  const names = new Set(mutations.map((m) => m.clientTxId));
  const unknown = mutations.filter((m) => !find(queue, m.clientTxId) && !hasSeq(shared.places, m.seq ?? 0));
  // During a reload, ignore them: this reload or the next one finds them, together with later changes. If `asOf` is
  // older than a change that is known here, the writes may have changed since.
  const news = shared.looks === 0 && asOf >= shared.changes ? unknown : [];
  const known = mutations.flatMap((m) => {
    const own = find(queue, m.clientTxId);
    return own && own.seq === undefined ? [withPlace(own, m.seq)] : [];
  });
  addFound(draft, news);
  set(draft, { queue: withChanged(draft.state.queue, known) });
  share(draft, { coming: shared.coming.filter((c) => !names.has(c.clientTxId)) });
  const seqs = mutations.map((m) => m.seq ?? 0);
  if (news.length === unknown.length) notePlaces(draft, seqs);
  else onExtent(draft, { lastSeq: Math.max(...seqs), changes: 0 });
  offerStrays(draft, news);
  // Confirmed writes may have waited for one of these `seq` numbers.
  settleAll(draft);
}

export const withPlace = (m: Mutation, seq: number | undefined): Mutation => ({
  ...m,
  seq,
  stage: m.stage.phase === "saving" ? { phase: "queued" } : m.stage,
});

/** Adds writes found on disk. If the log contained one before this tab learned of it, the rows include it already. */
export function addFound(draft: Draft, mutations: readonly Mutation[]): void {
  const inRows = new Set(draft.state.tabs.logged);
  const found = mutations.map((m) => (inRows.has(m.clientTxId) ? { ...m, landed: m.keys } : m));
  set(draft, { queue: withMutations(draft.state.queue, found) });
  touch(
    draft,
    found.flatMap((m) => m.keys),
  );
  for (const m of found) notifyNews(draft, m);
}

/** Offers writes again that were made with positions of another log than the leader's. */
function offerStrays(draft: Draft, news: readonly Mutation[]): void {
  const { rows, generation } = draft.state;
  if (generation === undefined || rows.position === undefined) return;
  if (news.some((m) => isStray(m, rows))) offerAgain(draft, rows, "strays");
}

/** The queue on disk was changed. Changes are applied in order: a change that arrives early waits. */
export function onChanged(draft: Draft, told: EarlyChange): void {
  const { shared } = draft.state;
  if (told.change <= shared.changes) return;
  share(draft, { early: [...shared.early, told] });
  takeInOrder(draft);
  settleAll(draft);
}

export function takeInOrder(draft: Draft): void {
  for (;;) {
    const { early, changes } = draft.state.shared;
    const next = early.find(({ change }) => change === changes + 1);
    const rest = early.filter(({ change }) => change > changes + 1);
    share(draft, { early: rest, changes: next ? next.change : changes });
    if (!next) return;
    take(draft, next);
  }
}

function take(draft: Draft, { put, gone }: QueueChanged): void {
  for (const { mutation, over } of put) takePut(draft, { mutation, over });
  for (const one of gone) takeGone(draft, one);
  const names = new Set(put.map((p) => p.mutation.clientTxId));
  const { coming } = draft.state.shared;
  if (coming.length > 0) share(draft, { coming: coming.filter((c) => !names.has(c.clientTxId)) });
  const left = new Set(gone.map(({ seq }) => seq));
  if (left.size > 0) share(draft, { settled: draft.state.shared.settled.filter(({ seq }) => !left.has(seq)) });
  notePlaces(draft, [...left]);
}

/**
 * This tab is storing the write in a slot that contained another write. The disk's answer decides whether it gets
 * there.
 */
export const isOnItsWay = ({ stage, seq }: Mutation): boolean => stage.phase === "saving" && seq !== undefined;

export function takePut(draft: Draft, { mutation, over }: Put): void {
  const own = find(draft.state.queue, over?.clientTxId ?? mutation.clientTxId);
  if (!own) return takeUnheard(draft, mutation);
  if (isOnItsWay(own)) return;
  if (own.clientTxId === mutation.clientTxId) return takeAgain(draft, [{ own, found: mutation }]);
  touch(draft, [...own.keys, ...mutation.keys]);
  set(draft, { queue: withReplaced(draft.state.queue, own.clientTxId, mutation) });
  notifyReplaced(draft, over ?? { ...own, seq: 0, phase: lastingPhase(own.stage) }, mutation.clientTxId);
}

/**
 * The tab that stored the write has not posted it yet. If its `seq` is known, the write has already left the queue, or
 * this tab is storing a replacement.
 */
function takeUnheard(draft: Draft, m: Mutation): void {
  if (m.seq === undefined || hasSeq(draft.state.shared.places, m.seq)) return;
  addFound(draft, [m]);
  notePlaces(draft, [m.seq]);
}

/** Takes the stored versions of known writes, and keeps what this tab has learned about them. */
export function takeAgain(draft: Draft, both: readonly { readonly own: Mutation; readonly found: Mutation }[]): void {
  const news = both.filter(({ own, found }) => !isSame(own, found));
  touch(
    draft,
    news.flatMap(({ own, found }) => [...own.keys, ...found.keys]),
  );
  const written = news.map(({ own, found }) => merged(own, found));
  set(draft, { queue: withChanged(draft.state.queue, written) });
  for (const { own, found } of both) if (isUndecided(own)) notifyNews(draft, found);
}

/** In a long queue, most writes are unchanged. */
const isSame = (own: Mutation, found: Mutation): boolean =>
  own.stage.phase === "queued" && found.stage.phase === "queued" && own.body === found.body && own.lost === found.lost;

const isUndecided = ({ stage }: Mutation): boolean =>
  stage.phase === "queued" ||
  stage.phase === "saving" ||
  (stage.phase === "parked" && stage.failure.code === "schema_changed");

function merged(own: Mutation, found: Mutation): Mutation {
  const { landed, attempts, stage, lost = found.lost } = own;
  return { ...found, landed, attempts, lost, stage: isUndecided(own) ? found.stage : stage };
}

function notifyNews(draft: Draft, m: Mutation): void {
  const news = newsOf(m);
  if (news) ask(draft, { do: "notify", clientTxId: m.clientTxId, news });
}

function takeGone(draft: Draft, { clientTxId, receipt }: Removed): void {
  const own = find(draft.state.queue, clientTxId);
  if (!own || isOnItsWay(own)) return;
  touch(draft, own.keys);
  // With a receipt, the write stays visible until the rows here have read as far as those of the tab that settled it.
  if (!receipt) return giveUp(draft, clientTxId, localFailure("discarded"));
  const settled: Mutation = { ...own, stage: { phase: "confirmed", receipt } };
  set(draft, { queue: withChanged(draft.state.queue, [settled]) });
  notifyNews(draft, settled);
  // It was settled in another log. Only the disk shows which of the two logs is current.
  const { logId } = draft.state.rows;
  if ((receipt.logId ?? logId) !== logId) reloadQueue(draft, "all");
}

export function reloadQueue(draft: Draft, rows: WhichRows = "further"): void {
  if (draft.state.storageTrouble !== undefined) return;
  const { looks, places } = draft.state.shared;
  // Forget earlier announcements: the reload finds those writes, or they no longer exist. A tab may announce writes of
  // a store that was cleared meanwhile.
  share(draft, { looks: looks + 1, early: [], told: { lastSeq: 0, changes: 0 }, places: seqSetUpTo(places.upTo) });
  ask(draft, { do: "readQueue", rows });
}

export const extentOf = ({ shared: { places, changes } }: ClientState): Extent => ({
  lastSeq: lastSeq(places),
  changes,
});

/** Another tab knows this much of the queue. */
export function onExtent(draft: Draft, { lastSeq, changes }: Extent): void {
  const { told } = draft.state.shared;
  share(draft, { told: { lastSeq: Math.max(told.lastSeq, lastSeq), changes: Math.max(told.changes, changes) } });
}

/** Stands for writes that another tab announced before this one was listening. */
export const UNHEARD = "";

/** Another tab is storing these writes. It may be killed before it can report that they are on disk. */
export function onWriting(draft: Draft, clientTxIds: readonly string[]): void {
  const news = clientTxIds.map((clientTxId) => ({ clientTxId, at: draft.now + COMING_MS, looks: 0 }));
  share(draft, { coming: [...draft.state.shared.coming, ...news] });
}
