import type { ClientEvent } from "./events.ts";
import { localFailure } from "./failure.ts";
import { keysOf, type Mutation, placesOf, sealed } from "./mutation.ts";
import { find, replaced } from "./queue.ts";
import { nextName } from "./rebase.ts";
import { ask, drop, left, set, type Turn, touch } from "./turn.ts";

export function decided(turn: Turn, { plan, newTxId }: Extract<ClientEvent, { type: "decided" }>): void {
  if (!plan || find(turn.state.queue, plan.write.clientTxId) !== plan.write) {
    const failure = localFailure("discarded", "It was answered elsewhere, or settled.");
    return ask(turn, { do: "tell", clientTxId: newTxId, news: { kind: "failed", failure } });
  }
  const { write, instead, again } = plan;
  if (instead) sendInstead(turn, write, instead, newTxId);
  else giveUp(turn, [write]);
  putAgain(turn, again);
}

/** Puts a write in the place of another and on disk; only from there it is sent. */
function sendInstead(turn: Turn, before: Mutation, next: Mutation, newTxId: string): void {
  const fresh = reseal(turn, {
    ...next,
    clientTxId: newTxId,
    attempts: 0,
    landed: [],
    lost: undefined,
    createdAt: turn.now,
  });
  set(turn, { queue: replaced(turn.state.queue, before.clientTxId, fresh) });
  left(turn, [before.clientTxId]);
  touch(turn, [...before.keys, ...fresh.keys]);
  ask(turn, { do: "persist", mutations: [fresh] });
}

/**
 * Writes whose text has changed. One that was never tried keeps its name, since no answer belongs to it yet; of one that
 * another tab may have sent as it was that cannot be known.
 */
function putAgain(turn: Turn, writes: readonly Mutation[]): void {
  const kept = writes.filter((m) => m.operations.length > 0);
  const isUntried = ({ attempts }: Mutation) => attempts <= 0 && turn.state.generation !== undefined;
  const named = (m: Mutation) => (isUntried(m) ? m : { ...m, clientTxId: nextName(m.clientTxId), attempts: 0 });
  const fresh = kept.map((m) => reseal(turn, named(m)));
  for (const [i, { clientTxId }] of kept.entries()) {
    const write = fresh[i] as Mutation;
    set(turn, { queue: replaced(turn.state.queue, clientTxId, write) });
    if (write.clientTxId === clientTxId) continue;
    left(turn, [clientTxId]);
    ask(turn, { do: "tell", clientTxId, news: { kind: "renamed", to: write.clientTxId } });
  }
  for (const write of writes) touch(turn, write.keys);
  if (fresh.length > 0) ask(turn, { do: "persist", mutations: fresh });
  giveUp(
    turn,
    writes.filter((m) => m.operations.length === 0),
  );
}

/** Takes writes out of the queue and off the disk, because somebody said so. */
function giveUp(turn: Turn, writes: readonly Mutation[]): void {
  if (writes.length === 0) return;
  const clientTxIds = writes.map((m) => m.clientTxId);
  drop(turn, clientTxIds);
  for (const write of writes) touch(turn, write.keys);
  for (const clientTxId of clientTxIds)
    ask(turn, { do: "tell", clientTxId, news: { kind: "failed", failure: localFailure("discarded") } });
  ask(turn, { do: "forget", places: placesOf(writes), generation: undefined });
  ask(turn, { do: "post", message: { type: "gone", clientTxIds } });
}

function reseal(turn: Turn, m: Mutation): Mutation {
  const { clientId, rows } = turn.state;
  return sealed({ ...m, keys: keysOf(m.operations), stage: { phase: "saving" } }, clientId, rows);
}
