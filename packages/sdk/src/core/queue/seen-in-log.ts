import { type Draft, keep, set } from "../draft.ts";
import type { LogRange, Rows } from "../log/rows.ts";
import { lookUp, recordKey, refOf } from "../log/tables.ts";
import type { QueueState } from "../state.ts";
import { withLost } from "./last-values.ts";
import type { Mutation } from "./mutation.ts";
import { find, onRecord } from "./queue.ts";
import { withChanged } from "./queue-changes.ts";

/* What the log says of pending writes and their records. */

/** A record that pending writes touch is being deleted. Keep its values, so that a person can restore it. */
export function keepLost(draft: Draft, next: Rows, keys: readonly string[]): void {
  const { queue, rows } = draft.state;
  const changes = new Map<string, Mutation>();
  for (const key of keys) {
    const record = refOf(key);
    const before = lookUp(rows.tables, record);
    if (!before || lookUp(next.tables, record)) continue;
    for (const write of onRecord(queue, key)) {
      const known = changes.get(write.clientTxId) ?? write;
      changes.set(write.clientTxId, withLost(known, key, before));
    }
  }
  if (changes.size === 0) return;
  set<QueueState>(draft, { queue: withChanged(queue, [...changes.values()]) });
  keep(draft, [...changes.values()]);
}

/**
 * Marks writes whose log entry has arrived, with or without a receipt. The row contains the write now, and perhaps
 * later writes of others.
 */
export function markEchoed(draft: Draft, range: LogRange): void {
  const echoed = new Map<string, Mutation>();
  for (const entry of range.entries) {
    const mutation = echoed.get(entry.clientTxId) ?? find(draft.state.queue, entry.clientTxId);
    const key = recordKey(entry);
    // The write of another tab has not been posted yet. Remember its name: when it arrives, the rows include it
    // already.
    if (!mutation && entry.clientId === draft.state.clientId) noteLogged(draft, entry.clientTxId);
    if (mutation?.keys.includes(key) && !mutation.echoed.includes(key))
      echoed.set(entry.clientTxId, { ...mutation, echoed: [...mutation.echoed, key], echoedAt: range.to });
  }
  set<QueueState>(draft, { queue: withChanged(draft.state.queue, [...echoed.values()]) });
  // The receipt of one that is being sent is on its way.
  keep(
    draft,
    [...echoed.values()].filter(({ stage }) => stage.phase === "queued"),
  );
}

/** How many names to remember of writes that the log contains but no tab has posted. */
const REMEMBERED = 1_000;

/** The log contains a write of this profile that this tab does not know yet. */
function noteLogged(draft: Draft, clientTxId: string): void {
  const { shared } = draft.state;
  if (!shared.logged.includes(clientTxId))
    set<QueueState>(draft, { shared: { ...shared, logged: [...shared.logged, clientTxId].slice(-REMEMBERED) } });
}

/** The rows are of another log. */
export function forgetLogged(draft: Draft): void {
  set<QueueState>(draft, { shared: { ...draft.state.shared, logged: [] } });
}
