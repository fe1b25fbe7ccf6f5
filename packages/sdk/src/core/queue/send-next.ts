import { isOwners } from "../connection/owner.ts";
import { isDue } from "../connection/retry.ts";
import { isSameOwner } from "../connection/same-owner.ts";
import { type Draft, emit, set } from "../draft.ts";
import type { ClientState, QueueState } from "../state.ts";
import { asSent, isTooOld, tooOld } from "./age.ts";
import { bulkBody, nextBulk } from "./bulk.ts";
import { reject } from "./bulk-response.ts";
import { localFailure } from "./failure.ts";
import { hasToSend } from "./has-to-send.ts";
import type { Mutation } from "./mutation.ts";
import { withChanged } from "./queue-changes.ts";
import { changeSending } from "./sending-state.ts";
import { knowsQueue } from "./shared-queue.ts";

const UNOWNED =
  "The owner of this write is unknown: it was made before the client knew its owner, and several owners have used this store. Call retry() to send it as the current owner, or discard() to drop it.";

/** Whether a write is its store's owner's. A write of an unknown owner is, if the store never had another owner. */
function isOwn({ owner: writer }: Mutation, { owner, others }: ClientState): boolean {
  if (writer === null) return !others;
  return owner !== undefined && isSameOwner(writer, owner);
}

/** Only one request is in flight per client, because two could overtake each other. */
export function sendNext(draft: Draft): void {
  const { sending, queue, reading, rows, generation } = draft.state;
  if (sending.names || reading.resync === "suspect" || !isDue(sending.wait, draft.now)) return;
  if (!isOwners(draft.state)) return;
  // Unknown writes may have to go before the known ones.
  if (!knowsQueue(draft.state)) return;
  // A position is invalid in another log. First verify that the log is still the same.
  if (!hasToSend(draft.state) || (!reading.verified && rows.position !== undefined)) return;
  const bulk = nextBulk(draft.state, sending.size);
  if (bulk.length === 0) return;
  const old = bulk.filter((m) => isTooOld(m, draft));
  if (old.length > 0) {
    for (const m of old) reject(draft, [m], tooOld(m, draft));
    return sendNext(draft);
  }
  const unowned = bulk.filter((m) => !isOwn(m, draft.state));
  if (unowned.length > 0) {
    reject(draft, unowned, localFailure("unowned", UNOWNED));
    return sendNext(draft);
  }
  const names = bulk.map((m) => m.clientTxId);
  const request = sending.request + 1;
  const sent = bulk.map(
    (m): Mutation => ({ ...asSent(m, draft), attempts: m.attempts + 1, stage: { phase: "sending" } }),
  );
  set<QueueState>(draft, { queue: withChanged(queue, sent) });
  changeSending(draft, { request, names });
  const first = bulk.filter((m) => m.unsent).map((m) => asSent(m, draft));
  emit(draft, { do: "send", request, names, body: bulkBody(bulk), first, generation });
}
