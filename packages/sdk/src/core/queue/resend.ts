import { ask, set, type Turn, touch } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { type Failure, localFailure } from "./failure.ts";
import { keysOf, type Mutation, sealed, standing } from "./mutation.ts";
import { find, removed, replaced } from "./queue.ts";

export function decided(turn: Turn, { plan, newTxId }: Extract<ClientEvent, { type: "decided" }>): void {
  if (!plan || find(turn.state.queue, plan.write.clientTxId) !== plan.write) return tooLate(turn, newTxId);
  const over = standing(plan.write);
  if (!over) return tooLate(turn, newTxId);
  const { write, instead, again } = plan;
  if (!instead) tell(turn, newTxId, localFailure("discarded"));
  const put = [
    ...(instead ? [{ before: write, mutation: newName(turn, instead, newTxId), over }] : []),
    ...again.flatMap((m) => (m.operations.length > 0 ? putAgain(turn, m) : [])),
  ];
  const given = [...(instead ? [] : [write]), ...again.filter((m) => m.operations.length === 0)];
  for (const { before, mutation } of put) set(turn, { queue: replaced(turn.state.queue, before.clientTxId, mutation) });
  set(turn, {
    queue: removed(
      turn.state.queue,
      given.map((m) => m.clientTxId),
    ),
  });
  touch(
    turn,
    [...put.flatMap(({ before, mutation }) => [before, mutation]), ...given].flatMap((m) => m.keys),
  );
  // As one: whoever reads the queue finds all of what was decided, or nothing.
  const change = { put: put.map(({ mutation, over }) => ({ mutation, over })), drop: given.flatMap(standingOf) };
  ask(turn, { do: "persist", changes: [change] });
  const { shared } = turn.state;
  if (change.drop.length > 0) set(turn, { shared: { ...shared, dropping: shared.dropping + 1 } });
}

const standingOf = (m: Mutation) => standing(m) ?? [];

/** What a person decided about is another write by now, or none. */
const tooLate = (turn: Turn, clientTxId: string): void =>
  tell(turn, clientTxId, localFailure("discarded", "It was answered elsewhere, or settled."));

const tell = (turn: Turn, clientTxId: string, failure: Failure): void =>
  ask(turn, { do: "tell", clientTxId, news: { kind: "failed", failure } });

function newName(turn: Turn, next: Mutation, newTxId: string): Mutation {
  const fresh = { ...next, clientTxId: newTxId, attempts: 0, landed: [], lost: undefined, createdAt: turn.now };
  return reseal(turn, fresh);
}

/**
 * A later write whose text has changed. It keeps its name: behind one that is held or parked it was never taken, whoever
 * sent it, and if it was after all, the server refuses another text under that name instead of doing it twice.
 */
function putAgain(turn: Turn, m: Mutation) {
  const over = standing(m);
  return over ? [{ before: m, mutation: reseal(turn, m), over }] : [];
}

function reseal(turn: Turn, m: Mutation): Mutation {
  const { clientId, rows } = turn.state;
  return sealed({ ...m, keys: keysOf(m.operations), stage: { phase: "saving" } }, clientId, rows);
}
