import type { StaleNotification } from "../../protocol/commits/stale.ts";
import { type Draft, keep, set, touch } from "../draft.ts";
import type { LogRange } from "../log/rows.ts";
import { recordKey } from "../log/tables.ts";
import type { ClientState, QueueState } from "../state.ts";
import { withoutLost } from "./last-values.ts";
import { type Mutation, type MutationOperation, waitsForPerson } from "./mutation.ts";
import { eachOnRecord, find, type Queue, waitingWrites } from "./queue.ts";
import { withChanged } from "./queue-changes.ts";
import { serialized } from "./serialized.ts";

/*
 * What others have written in a record is in its rows and, while writes to it are pending, also in these: what the author
 * saw, what the server reported of a conflict, what was kept to restore a deleted record, and what an undo or a restored
 * record copied. After an erasure none of it may stay. The log tells it once, and a write with such values may arrive
 * later: from another tab, from the disk, or with an answer that was on its way. So the client remembers what was erased.
 */

/** How many erased records to remember. */
const REMEMBERED = 1_000;

/** Remembers the records of a range that were erased. */
export function noteErased(draft: Draft, { entries }: LogRange): ReadonlySet<string> {
  const found = entries.filter(({ verb }) => verb === "erased");
  if (found.length === 0) return NONE;
  const all = new Map(draft.state.erased);
  for (const entry of found) {
    const key = recordKey(entry);
    // A record that is erased again is the newest.
    all.delete(key);
    all.set(key, entry.syncId);
  }
  set<QueueState>(draft, { erased: new Map([...all].slice(-REMEMBERED)) });
  return new Set(found.map(recordKey));
}

const NONE: ReadonlySet<string> = new Set();

/** Removes the values of erased records from the writes of this step, in memory and on disk. */
export function forgetErased(draft: Draft, before: ClientState): void {
  const { erased, queue, generation } = draft.state;
  if (erased.size === 0) return;
  const leads = generation !== before.generation;
  if (erased === before.erased && queue === before.queue && !leads) return;
  const changed = new Map<string, Mutation>();
  const again = new Set<string>();
  for (const [key, position] of erased)
    for (const { clientTxId } of eachAbout(queue, key)) {
      const known = changed.get(clientTxId) ?? find(queue, clientTxId);
      if (!known || !isBefore(known, key, position)) continue;
      const next = withoutErased(draft, known, key, position);
      if (next !== known) changed.set(clientTxId, next);
      // It was on its way to the disk, or another tab has put it there.
      const isNew = known.seq !== undefined && find(before.queue, clientTxId)?.seq === undefined;
      if (isNew || leads) again.add(clientTxId);
    }
  const same = [...again].flatMap((name) => (changed.has(name) ? [] : (find(queue, name) ?? [])));
  replaceWrites(draft, [...changed.values(), ...same]);
}

/** In memory, and those that are on disk also there. */
function replaceWrites(draft: Draft, writes: readonly Mutation[]): void {
  showWrites(draft, writes);
  keep(
    draft,
    writes.filter(({ seq }) => seq !== undefined),
  );
}

function showWrites(draft: Draft, writes: readonly Mutation[]): void {
  if (writes.length === 0) return;
  set<QueueState>(draft, { queue: withChanged(draft.state.queue, writes) });
  touch(
    draft,
    writes.flatMap((write) => write.keys),
  );
}

/** Removes the values of records that are not there any more, as if they had been erased: the client cannot know. */
export function forgetGone(draft: Draft, keys: readonly string[]): void {
  const changed = new Map<string, Mutation>();
  for (const key of keys)
    for (const { clientTxId } of eachAbout(draft.state.queue, key)) {
      const known = changed.get(clientTxId) ?? find(draft.state.queue, clientTxId);
      const next = known && withoutErased(draft, known, key, Number.POSITIVE_INFINITY);
      if (next && next !== known) changed.set(clientTxId, next);
    }
  replaceWrites(draft, [...changed.values()]);
}

/** The writes to a record, and those that wait because the record, a premise of theirs, has changed. */
function* eachAbout(queue: Queue, key: string): Generator<Mutation> {
  yield* eachOnRecord(queue, key);
  for (const write of waitingWrites(queue))
    if (!write.keys.includes(key) && notificationsIn(write.stage).some((n) => recordKey(n) === key)) yield write;
}

/** Whether some of it is from before the erasure. What is based on a later record with the same id has no erased value. */
const isBefore = (write: Mutation, key: string, position: number): boolean =>
  write.lost?.[key] !== undefined ||
  write.operations.some((o) => recordKey(o) === key && isOld(write, o, position)) ||
  notificationsIn(write.stage).some((n) => recordKey(n) === key && n.observedSyncId < position);

/** A decision moves `readAt` on, and leaves what was copied before: that counts as old as long as a person is asked. */
const isOld = (write: Mutation, { readAt = 0, copied }: MutationOperation, position: number): boolean =>
  readAt < position || (copied !== undefined && waitsForPerson(write));

/** What the server has reported of a conflict or a refusal. */
export function notificationsIn(stage: Mutation["stage"]): readonly StaleNotification[] {
  if (stage.phase === "conflicted") return stage.notifications;
  return (stage.phase === "rejected" && stage.failure.receipt?.notifications) || [];
}

/** The write without values of the record that its author has not typed. The same object, if it has none. */
function withoutErased({ state }: Draft, write: Mutation, key: string, position: number): Mutation {
  const isWaiting = waitsForPerson(write);
  let isCopy = false;
  const operations = write.operations.map((o) => {
    if (recordKey(o) !== key || !isOld(write, o, position)) return o;
    // The bytes of a write that may be on its way stay: the server has the same name with them.
    const copied = isWaiting ? o.copied : undefined;
    if (copied === undefined) return o.base === null ? o : { ...o, base: null };
    isCopy = true;
    const data = Object.fromEntries(Object.entries(o.data ?? {}).filter(([field]) => !copied.includes(field)));
    return { ...o, base: null, copied: undefined, data };
  });
  const isLost = write.lost?.[key] !== undefined;
  const stage = withoutReported(write.stage, key, position);
  const isSame = !isLost && stage === write.stage && operations.every((o, at) => o === write.operations[at]);
  if (isSame) return write;
  // Another stage object shows that a rejected write has changed.
  const next = { ...(isLost ? withoutLost(write, key) : write), operations, stage: { ...stage } };
  return isCopy ? serialized(next, state.clientId, state.rows) : next;
}

function withoutReported(stage: Mutation["stage"], key: string, position: number): Mutation["stage"] {
  const hasValues = (n: StaleNotification) =>
    recordKey(n) === key && n.observedSyncId < position && Object.keys(n.currentValues ?? {}).length > 0;
  const found = notificationsIn(stage);
  if (!found.some(hasValues)) return stage;
  const notifications = found.map((n) => (hasValues(n) ? { ...n, currentValues: {} } : n));
  if (stage.phase === "conflicted") return { ...stage, notifications };
  if (stage.phase !== "rejected" || !stage.failure.receipt) return stage;
  return { ...stage, failure: { ...stage.failure, receipt: { ...stage.failure.receipt, notifications } } };
}
