import { baseOf } from "./base.ts";
import type { News } from "./effects.ts";
import type { ClientEvent, Mutated } from "./events.ts";
import { knownFailure, localFailure } from "./failure.ts";
import { keysOf, type Mutation, type Place, sealed } from "./mutation.ts";
import { refreshed } from "./overlay.ts";
import { added, changed, emptyQueue, find, inOrder, replaced } from "./queue.ts";
import { outnamed } from "./rebase.ts";
import { shapeOf } from "./schema-hash.ts";
import { checkScope } from "./scope.ts";
import { missed } from "./settle.ts";
import type { ClientState, StorageTrouble } from "./state.ts";
import { ask, drop, left, set, type Turn, touch } from "./turn.ts";

/** The app wrote something. It is shown in this step, put on disk by its effect, and sent only from there. */
export function mutated(turn: Turn, event: Mutated): void {
  const draft: Mutation = {
    clientTxId: event.clientTxId,
    seq: undefined,
    operations: event.operations.map((o) => ({ ...o, base: null })),
    reads: event.reads,
    schema: turn.state.schemaHash,
    shape: shapeOf(turn.state.models, event.operations),
    body: "",
    bytes: 0,
    createdAt: turn.now,
    attempts: 0,
    keys: keysOf(event.operations),
    landed: [],
    stage: { phase: "saving" },
  };
  take(turn, [draft]);
}

/** Writes that were exported from a queue, with their own texts and names. */
export function imported(turn: Turn, mutations: readonly Mutation[]): void {
  set(turn, { queue: added(turn.state.queue, mutations) });
  touch(
    turn,
    mutations.flatMap((m) => m.keys),
  );
  if (mutations.length > 0) ask(turn, { do: "persist", mutations });
}

/** Takes writes into the queue. Before the local store was read they are only shown: nobody knows yet what they build on. */
function take(turn: Turn, drafts: readonly Mutation[]): void {
  const { life, clientId, rows } = turn.state;
  const writes =
    life === "starting"
      ? drafts
      : drafts.map((draft) => {
          const operations = draft.operations.map((o) => ({ ...o, base: baseOf(turn.state, o) }));
          return sealed({ ...draft, operations }, clientId, rows);
        });
  set(turn, { queue: added(turn.state.queue, writes) });
  touch(
    turn,
    writes.flatMap((m) => m.keys),
  );
  if (life !== "starting" && writes.length > 0) ask(turn, { do: "persist", mutations: writes });
}

/** The local store has been read. What the app wrote meanwhile comes after what was found there. */
export function restored(turn: Turn, event: Extract<ClientEvent, { type: "restored" }>): void {
  const early = [...inOrder(turn.state.queue)];
  const { rows, clientId, owner, partial } = event;
  const old = outnamed(event.mutations);
  const mutations = event.mutations.filter((m) => !old.has(m.clientTxId));
  set(turn, { life: "running", clientId, owner, rows });
  // What was kept of a first snapshot is shown while the rest is read.
  if (partial)
    set(turn, {
      rows: { ...rows, tables: partial.tables },
      reading: { ...turn.state.reading, partial: { ...partial, isKept: true } },
    });
  set(turn, { queue: added(emptyQueue, mutations) });
  checkScope(turn);
  touch(turn, "everything");
  // What is shown is worked out at the end of the step; before that only for writes that are to say what they build on.
  if (early.length === 0) return;
  set(turn, refreshed(turn.state, turn.state));
  take(turn, early);
}

export function persisted(turn: Turn, places: readonly Place[]): void {
  const saved: Mutation[] = [];
  const strays: Place[] = [];
  for (const place of places) {
    const write = find(turn.state.queue, place.clientTxId);
    if (!write) strays.push(place);
    else if (write.stage.phase === "saving") saved.push({ ...write, seq: place.seq, stage: { phase: "queued" } });
    else if (write.seq === undefined) saved.push({ ...write, seq: place.seq });
    ask(turn, { do: "tell", clientTxId: place.clientTxId, news: kept(turn.state) });
  }
  const queue = changed(turn.state.queue, saved);
  set(turn, { queue: { ...queue, lastSeq: Math.max(queue.lastSeq, ...strays.map((p) => p.seq)) } });
  // Given another name while it was on its way: the copy under the old one must not be sent after a reload.
  if (strays.length === 0) return;
  ask(turn, { do: "forget", places: strays, generation: undefined });
  ask(turn, { do: "post", message: { type: "gone", clientTxIds: strays.map((p) => p.clientTxId) } });
}

const kept = ({ storageTrouble }: ClientState): News =>
  storageTrouble === undefined
    ? { kind: "queued" }
    : { kind: "not-durable", failure: localFailure("storage_failed", storageTrouble.reason) };

/** The disk failed. Writes go on from memory, which is said: they do not survive a reload. */
export function storageFailed(turn: Turn, trouble: StorageTrouble): void {
  set(turn, { storageTrouble: trouble });
  const failure = localFailure("storage_failed", trouble.reason);
  for (const write of inOrder(turn.state.queue))
    if (write.stage.phase === "saving")
      ask(turn, { do: "tell", clientTxId: write.clientTxId, news: { kind: "not-durable", failure } });
}

/** Writes of other tabs, or found on disk by the tab that begins to send. The place decides who is who. */
export function arrived(turn: Turn, mutations: readonly Mutation[]): void {
  const bySeq = new Map<number, Mutation>();
  if (mutations.some((m) => m.seq !== undefined && m.seq <= turn.state.queue.lastSeq))
    for (const m of inOrder(turn.state.queue)) if (m.seq !== undefined) bySeq.set(m.seq, m);
  const [news, known]: [Mutation[], Mutation[]] = [[], []];
  const over = new Set(turn.state.tabs.left);
  const inRows = new Set(turn.state.tabs.logged);
  for (const told of mutations) {
    if (over.has(told.clientTxId)) continue;
    const m = inRows.has(told.clientTxId) ? { ...told, landed: told.keys } : told;
    const own = find(turn.state.queue, m.clientTxId);
    const there = m.seq === undefined ? undefined : bySeq.get(m.seq);
    if (own) {
      // Its body may have been made anew; what has been learnt of it meanwhile stays.
      const undecided = own.stage.phase === "saving" || own.stage.phase === "queued";
      const { landed, attempts, lost = m.lost } = own;
      known.push({ ...m, landed, attempts, lost, stage: undecided ? m.stage : own.stage });
      const news = undecided ? newsOf(m) : undefined;
      if (news) ask(turn, { do: "tell", clientTxId: m.clientTxId, news });
    } else if (there?.stage.phase === "saving") {
      // A person answered it here a moment ago, and that is on its way to the disk: what was there before is old.
      continue;
    } else if (there) {
      set(turn, { queue: replaced(turn.state.queue, there.clientTxId, m) });
      left(turn, [there.clientTxId]);
      ask(turn, { do: "tell", clientTxId: there.clientTxId, news: { kind: "renamed", to: m.clientTxId } });
    } else news.push(m);
    touch(turn, [...m.keys, ...(own?.keys ?? []), ...(there?.keys ?? [])]);
  }
  set(turn, { queue: added(changed(turn.state.queue, known), news) });
}

/** What the one who made a write is to hear of it, when this tab finds it answered. */
function newsOf(m: Mutation): News | undefined {
  const { stage } = m;
  switch (stage.phase) {
    case "confirmed": {
      const failure = missed(m, stage.receipt);
      return failure ? { kind: "failed", failure } : { kind: "confirmed", receipt: stage.receipt };
    }
    case "held": {
      const failure = knownFailure(stage.claim?.code ?? "stale_context", "Others wrote there meanwhile.");
      return { kind: "failed", failure };
    }
    case "parked":
      return { kind: "failed", failure: stage.failure };
    default:
      return undefined;
  }
}

export function gone(turn: Turn, clientTxIds: readonly string[]): void {
  const writes = clientTxIds.map((name) => find(turn.state.queue, name)).filter((m) => m !== undefined);
  drop(turn, clientTxIds);
  touch(
    turn,
    writes.flatMap((m) => m.keys),
  );
  for (const { clientTxId } of writes)
    ask(turn, { do: "tell", clientTxId, news: { kind: "failed", failure: localFailure("discarded") } });
}
