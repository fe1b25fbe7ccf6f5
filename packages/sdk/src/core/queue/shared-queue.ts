import { ask, set, type Turn, touch } from "../draft.ts";
import type { News, WhichRows } from "../effects.ts";
import type { ClientEvent } from "../events.ts";
import { newsOf } from "../news.ts";
import type { ClientState, EarlyChange, SharedQueue } from "../state.ts";
import type { Extent, QueueChanged } from "../tabs/tab-message.ts";
import { type Failure, localFailure } from "./failure.ts";
import { type Gone, lastingPhase, type Mutation, type Put, type Standing } from "./mutation.ts";
import { added, changed, find, removed, replaced } from "./queue.ts";
import { isStray, offerAgain } from "./rebase.ts";
import { isKnown, lastOf, ledgerUpTo, noted } from "./seq-set.ts";
import { settleAll } from "./settle.ts";

/*
 * The queue on disk is the one that counts, and all tabs change it: each puts its own writes there, the one that leads
 * keeps what became of them, any may hear a person's decision. New writes are numbered by their places, all other changes
 * are counted, so that a tab knows what it has not heard of. It takes changes in their order, whoever made them; where one
 * does not come, because the tab that made it was killed before it could tell, it looks at the disk itself.
 */

/** How long a tab may take to put on disk what it said it would. */
export const COMING_MS = 2_000;

export function share(turn: Turn, change: Partial<SharedQueue>): void {
  set(turn, { shared: { ...turn.state.shared, ...change } });
}

/** Places of writes that this tab knows from now on. */
function notePlaces(turn: Turn, seqs: readonly number[]): void {
  share(turn, { places: noted(turn.state.shared.places, seqs) });
}

/** What this tab wanted of the queue on disk has happened there, or came too late. */
export function persisted(turn: Turn, { done, refused, change }: Extract<ClientEvent, { type: "persisted" }>): void {
  const put = done.flatMap((d) => d.put);
  const ended = [...done, ...refused].filter((d) => d.drop.length > 0);
  share(turn, { dropping: Math.max(0, turn.state.shared.dropping - ended.length) });
  const saved = put.flatMap(({ mutation: { clientTxId, seq } }) => {
    const write = find(turn.state.queue, clientTxId);
    return write && (write.stage.phase === "saving" || write.seq === undefined) ? [withPlace(write, seq)] : [];
  });
  set(turn, { queue: changed(turn.state.queue, saved) });
  for (const { mutation, over } of put) {
    const { clientTxId } = mutation;
    const isRenamed = over !== undefined && over.clientTxId !== clientTxId;
    if (isRenamed) tellReplaced(turn, over, clientTxId);
    ask(turn, { do: "tell", clientTxId, news: kept(turn.state) });
    if (isRenamed) tellEarly(turn, clientTxId);
  }
  const gone = done.flatMap((d) => d.drop);
  for (const { clientTxId } of gone) giveUp(turn, clientTxId, localFailure("discarded"));
  notePlaces(
    turn,
    put.map(({ mutation: { seq = 0 } }) => seq),
  );
  if (change !== undefined) heardChanged(turn, { type: "changed", change, put, gone, isOwn: true });
  offerStrays(turn, saved);
  if (refused.length === 0) return;
  for (const { mutation, over } of refused.flatMap((d) => d.put)) takeBack(turn, mutation, over);
  lookAgain(turn);
}

/** It did not get to its place. A write that only got another text lies there as it was. */
function takeBack(turn: Turn, { clientTxId, keys }: Mutation, over: Standing | undefined): void {
  const late = localFailure("discarded", "It was answered elsewhere, or settled.");
  if (over?.clientTxId !== clientTxId) return giveUp(turn, clientTxId, late);
  touch(turn, keys);
  set(turn, { queue: removed(turn.state.queue, [clientTxId]) });
}

/** A write goes on under another name; one that waited for a person ended with the answer. */
function tellReplaced(turn: Turn, { clientTxId, phase }: Standing, to: string): void {
  const news: News =
    phase === "queued" ? { kind: "renamed", to } : { kind: "failed", failure: localFailure("discarded") };
  ask(turn, { do: "tell", clientTxId, news });
}

/** What was heard of it under its new name, before anybody could wait for that. */
function tellEarly(turn: Turn, clientTxId: string): void {
  const write = find(turn.state.queue, clientTxId);
  if (write) tellNews(turn, write);
  else ask(turn, { do: "inquire" });
}

const kept = ({ storageTrouble }: ClientState): News =>
  storageTrouble === undefined
    ? { kind: "queued" }
    : { kind: "not-durable", failure: localFailure("storage_failed", storageTrouble.reason) };

function giveUp(turn: Turn, clientTxId: string, failure: Failure): void {
  touch(turn, find(turn.state.queue, clientTxId)?.keys ?? []);
  set(turn, { queue: removed(turn.state.queue, [clientTxId]) });
  ask(turn, { do: "tell", clientTxId, news: { kind: "failed", failure } });
}

/** A tab has put new writes on disk. */
export function heardArrived(turn: Turn, mutations: readonly Mutation[], asOf = Number.POSITIVE_INFINITY): void {
  const { queue, shared } = turn.state;
  const names = new Set(mutations.map((m) => m.clientTxId));
  const unknown = mutations.filter((m) => !find(queue, m.clientTxId) && !isKnown(shared.places, m.seq ?? 0));
  // While the disk is being looked at they are found there, or by the next look, together with what came after them.
  // Found before a change that is known here, they may be others by now.
  const news = shared.looks === 0 && asOf >= shared.changes ? unknown : [];
  const known = mutations.flatMap((m) => {
    const own = find(queue, m.clientTxId);
    return own && own.seq === undefined ? [withPlace(own, m.seq)] : [];
  });
  addFound(turn, news);
  set(turn, { queue: changed(turn.state.queue, known) });
  share(turn, { coming: shared.coming.filter((c) => !names.has(c.clientTxId)) });
  const seqs = mutations.map((m) => m.seq ?? 0);
  if (news.length === unknown.length) notePlaces(turn, seqs);
  else hearExtent(turn, { lastSeq: Math.max(...seqs), changes: 0 });
  offerStrays(turn, news);
  // What was confirmed may have waited for one of these places to be known.
  settleAll(turn);
}

export const withPlace = (m: Mutation, seq: number | undefined): Mutation => ({
  ...m,
  seq,
  stage: m.stage.phase === "saving" ? { phase: "queued" } : m.stage,
});

/** Those that the log had before this tab was told of them are in the rows already. */
export function addFound(turn: Turn, mutations: readonly Mutation[]): void {
  const inRows = new Set(turn.state.tabs.logged);
  const found = mutations.map((m) => (inRows.has(m.clientTxId) ? { ...m, landed: m.keys } : m));
  set(turn, { queue: added(turn.state.queue, found) });
  touch(
    turn,
    found.flatMap((m) => m.keys),
  );
  for (const m of found) tellNews(turn, m);
}

/** Made with the positions of another log than the tab that leads has read: offered again. */
function offerStrays(turn: Turn, news: readonly Mutation[]): void {
  const { rows, generation } = turn.state;
  if (generation === undefined || rows.position === undefined) return;
  if (news.some((m) => isStray(m, rows))) offerAgain(turn, rows, "strays");
}

/** The queue on disk was changed. Taken in order: what comes before its turn waits. */
export function heardChanged(turn: Turn, told: EarlyChange): void {
  const { shared } = turn.state;
  if (told.change <= shared.changes) return;
  share(turn, { early: [...shared.early, told] });
  takeInTurn(turn);
  settleAll(turn);
}

export function takeInTurn(turn: Turn): void {
  for (;;) {
    const { early, changes } = turn.state.shared;
    const next = early.find(({ change }) => change === changes + 1);
    const rest = early.filter(({ change }) => change > changes + 1);
    share(turn, { early: rest, changes: next ? next.change : changes });
    if (!next) return;
    take(turn, next);
  }
}

function take(turn: Turn, { put, gone }: QueueChanged): void {
  for (const { mutation, over } of put) takePut(turn, { mutation, over });
  for (const one of gone) takeGone(turn, one);
  const names = new Set(put.map((p) => p.mutation.clientTxId));
  const { coming } = turn.state.shared;
  if (coming.length > 0) share(turn, { coming: coming.filter((c) => !names.has(c.clientTxId)) });
  const left = new Set(gone.map(({ seq }) => seq));
  if (left.size > 0) share(turn, { settled: turn.state.shared.settled.filter(({ seq }) => !left.has(seq)) });
  notePlaces(turn, [...left]);
}

/** It is on its way from here to a place that had another write: whether it gets there is told when it does or does not. */
export const isOnItsWay = ({ stage, seq }: Mutation): boolean => stage.phase === "saving" && seq !== undefined;

export function takePut(turn: Turn, { mutation, over }: Put): void {
  const own = find(turn.state.queue, over?.clientTxId ?? mutation.clientTxId);
  if (!own) return takeUnheard(turn, mutation);
  if (isOnItsWay(own)) return;
  if (own.clientTxId === mutation.clientTxId) return takeAgain(turn, [{ own, found: mutation }]);
  touch(turn, [...own.keys, ...mutation.keys]);
  set(turn, { queue: replaced(turn.state.queue, own.clientTxId, mutation) });
  tellReplaced(turn, over ?? { ...own, seq: 0, phase: lastingPhase(own.stage) }, mutation.clientTxId);
}

/** Whoever put it on disk has not told of it yet. One whose place is known has left it, or is on its way there from here. */
function takeUnheard(turn: Turn, m: Mutation): void {
  if (m.seq === undefined || isKnown(turn.state.shared.places, m.seq)) return;
  addFound(turn, [m]);
  notePlaces(turn, [m.seq]);
}

/** The same writes as the disk has them. What has been learnt of them here stays. */
export function takeAgain(turn: Turn, both: readonly { readonly own: Mutation; readonly found: Mutation }[]): void {
  const news = both.filter(({ own, found }) => !isSame(own, found));
  touch(
    turn,
    news.flatMap(({ own, found }) => [...own.keys, ...found.keys]),
  );
  const written = news.map(({ own, found }) => merged(own, found));
  set(turn, { queue: changed(turn.state.queue, written) });
  for (const { own, found } of both) if (isUndecided(own)) tellNews(turn, found);
}

/** Most are, in a long queue. */
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

function tellNews(turn: Turn, m: Mutation): void {
  const news = newsOf(m);
  if (news) ask(turn, { do: "tell", clientTxId: m.clientTxId, news });
}

function takeGone(turn: Turn, { clientTxId, receipt }: Gone): void {
  const own = find(turn.state.queue, clientTxId);
  if (!own || isOnItsWay(own)) return;
  touch(turn, own.keys);
  // It is shown until the rows here have read as far as those of the tab that settled it.
  if (!receipt) return giveUp(turn, clientTxId, localFailure("discarded"));
  const settled: Mutation = { ...own, stage: { phase: "confirmed", receipt } };
  set(turn, { queue: changed(turn.state.queue, [settled]) });
  tellNews(turn, settled);
  // Settled on another log: the disk knows which of the two is the one that is gone.
  const { logId } = turn.state.rows;
  if ((receipt.logId ?? logId) !== logId) lookAgain(turn, "all");
}

export function lookAgain(turn: Turn, rows: WhichRows = "further"): void {
  if (turn.state.storageTrouble !== undefined) return;
  const { looks, places } = turn.state.shared;
  // What was told until now will be found, or is not so: a tab may tell of a store that was cleared under it.
  share(turn, { looks: looks + 1, early: [], told: { lastSeq: 0, changes: 0 }, places: ledgerUpTo(places.upTo) });
  ask(turn, { do: "look", rows });
}

export const extentOf = ({ shared: { places, changes } }: ClientState): Extent => ({
  lastSeq: lastOf(places),
  changes,
});

/** Another tab knows of that much. */
export function hearExtent(turn: Turn, { lastSeq, changes }: Extent): void {
  const { told } = turn.state.shared;
  share(turn, { told: { lastSeq: Math.max(told.lastSeq, lastSeq), changes: Math.max(told.changes, changes) } });
}

/** What another tab said that it would put on disk before this one listened. */
export const UNHEARD = "";

/** Another tab is putting these on disk: it may be killed before it can say that they are there. */
export function writing(turn: Turn, clientTxIds: readonly string[]): void {
  const news = clientTxIds.map((clientTxId) => ({ clientTxId, at: turn.now + COMING_MS, looks: 0 }));
  share(turn, { coming: [...turn.state.shared.coming, ...news] });
}
