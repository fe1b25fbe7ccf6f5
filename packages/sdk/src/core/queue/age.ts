import { clientLimits as limits } from "../../protocol/client-limits.ts";
import { canSend } from "../connection/auth.ts";
import { type Draft, emit, keep, set } from "../draft.ts";
import type { ClientState } from "../state.ts";
import { type Failure, localFailure } from "./failure.ts";
import { expectedSlot, lastingPhase, type Mutation } from "./mutation.ts";
import { inOrder } from "./queue.ts";
import { withChanged } from "./queue-changes.ts";

/*
 * How long a write has waited is measured by the time that the client has lived through, because a device's clock may
 * be years off until it is set. If the wall clock leaves the monotonic clock behind, it was set, and the times of writes
 * that were never sent move along, also on disk. One that was sent may be in the log, and some monotonic clocks stand
 * still while the device sleeps: after a sleep of a month the server would no longer know it. No sleep sets a clock back,
 * so then the times of all writes move along: by the time of a clock that was fast, they would be too young for weeks.
 *
 * So what the disk says of a write counts, also for the next client, a tab that begins to lead, and an export. A write
 * is stored as unsent only if it cannot be sent at once, and it is stored without that mark before it is sent.
 */

/** Smaller steps change nothing that matters here, and are often a night's sleep. */
const JUMP_MS = 86_400_000;

/** The two clocks never differ by exactly as much as before, and less than this need not be noted. */
const NOTED_MS = 1_000;

/** The device's clock. The time of a step is never set back, so that no wait grows longer. */
export const wallOf = ({ wall, now }: Draft): number => wall ?? now;

/** `lived`: the monotonic clock. */
export function followClock(draft: Draft, lived: number | undefined): void {
  if (lived === undefined) return;
  const { clock, queue, generation } = draft.state;
  const offset = wallOf(draft) - lived;
  const by = clock ? offset - clock.offset : 0;
  if (clock && Math.abs(by) < NOTED_MS) return;
  const moves = by < 0 || by > JUMP_MS;
  set(draft, { clock: { offset, startedAt: clock ? clock.startedAt + (moves ? by : 0) : wallOf(draft) } });
  if (!moves) return;
  // The leader may have moved it before.
  const moved = [...inOrder(queue)]
    .filter(({ unsent, stage }) => (unsent || by < 0) && lastingPhase(stage) === "queued")
    .map((m) => ({ ...m, createdAt: Math.min(m.createdAt + by, wallOf(draft)) }));
  set(draft, { queue: withChanged(queue, moved) });
  keep(draft, moved);
  // A later leader may know nothing of the clock that was fast. That a write is unsent may no longer be so.
  if (generation === undefined && by < -JUMP_MS)
    persist(
      draft,
      moved.filter((m) => !m.unsent),
    );
}

/** What is stored of a new write: if it can be sent at once, it counts as sent, so that it is stored only once. */
export function unsentIn(state: ClientState): true | undefined {
  const { lead, storageTrouble, tabs, reading } = state;
  const sends = lead === "yes" || storageTrouble !== undefined;
  return (sends ? reading.verified && canSend(state) : tabs.connection?.name === "online") ? undefined : true;
}

/** If it was made by a clock that was set back since, its time would never come. */
export const asSent = ({ unsent, ...m }: Mutation, draft: Draft): Mutation =>
  unsent ? { ...m, createdAt: Math.min(m.createdAt, wallOf(draft)) } : m;

/** Another device may send what is exported, under the same names. */
export function onExported(draft: Draft): void {
  const marked = [...inOrder(draft.state.queue)].filter((m) => m.unsent).map((m) => asSent(m, draft));
  if (marked.length === 0) return;
  set(draft, { queue: withChanged(draft.state.queue, marked) });
  persist(draft, marked);
}

/** Stores writes in any tab: each by itself, so that one whose slot was given away stops no other. */
function persist(draft: Draft, mutations: readonly Mutation[]): void {
  const changes = mutations.flatMap((mutation) => {
    const over = expectedSlot(mutation);
    return over ? [{ put: [{ mutation, over }], drop: [] }] : [];
  });
  if (changes.length > 0) emit(draft, { do: "persist", changes });
}

/** Whether the server may have forgotten the receipt of a write. */
export const isTooOld = (m: Mutation, draft: Draft): boolean =>
  wallOf(draft) - m.createdAt > limits.resendMs || isFromFuture(m, draft);

/** It may have been sent by a clock that was set back since: how long ago, that clock does not tell. */
export const isFromFuture = ({ createdAt, unsent }: Mutation, draft: Draft): boolean =>
  !unsent && createdAt - wallOf(draft) > JUMP_MS;

/** Of a write from before this client, nothing but the wall clock tells the age. */
export const tooOld = ({ createdAt }: Mutation, draft: Draft): Failure =>
  localFailure(
    "too_old",
    `The write has waited so long that the server may have forgotten it${
      createdAt < (draft.state.clock?.startedAt ?? 0) || createdAt > wallOf(draft)
        ? ", or this device's clock was changed: by that clock it was made on "
        : ". It was made on "
    }${dayOf(createdAt)}. Check the current record first.`,
  );

function dayOf(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "a day that does not exist" : date.toISOString().slice(0, 10);
}
