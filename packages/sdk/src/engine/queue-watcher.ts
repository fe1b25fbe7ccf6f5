import { statusOf } from "../core/select.ts";
import type { Engine } from "./engine.ts";
import type { Clock, EvictionMarker } from "./ports.ts";

const AT_MOST_EVERY_MS = 2_000;

/**
 * Keeps the eviction marker up to date with the number of queued writes, so that a cleared store is noticed. Updates it
 * when the queue stops or starts being empty, and at intervals in between.
 */
export function watchQueue({ store }: Engine, evictionMarker: EvictionMarker, clock: Clock): () => void {
  let noted: { pending: number; at: number } | undefined;
  const update = () => {
    const state = store.getState();
    if (state.life === "starting" || state.lead === "no") return;
    // A tab that has lost the store still sends what it knows of it. Another tab's store has a note of its own by then.
    if (state.storageTrouble !== undefined && evictionMarker.read()?.clientId !== state.clientId) return;
    const { pending, conflicts, attention } = statusOf(state);
    const waiting = pending + conflicts + attention;
    if (noted?.pending === waiting) return;
    const isTurn = !noted || (noted.pending === 0) !== (waiting === 0);
    if (!isTurn && noted && clock.now() - noted.at < AT_MOST_EVERY_MS) return;
    noted = { pending: waiting, at: clock.now() };
    evictionMarker.note({ clientId: state.clientId, pending: waiting, notedAt: noted.at });
  };
  return store.subscribe((state, before) => {
    if (state.queue !== before.queue || state.life !== before.life || state.lead !== before.lead) update();
  });
}
