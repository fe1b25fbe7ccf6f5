import { clientLimits as limits } from "../../protocol/client-limits.ts";
import { type Draft, keep, set } from "../draft.ts";
import { type Failure, localFailure } from "./failure.ts";
import type { Mutation } from "./mutation.ts";
import { inOrder } from "./queue.ts";
import { withChanged } from "./queue-changes.ts";

/*
 * How long a write has waited is measured by the time that the client has lived through, because a device's clock may
 * be years off until it is set. If the wall clock leaves the monotonic clock behind, it was set, and the times of writes
 * that were never sent move along, also on disk. One that was sent may be in the log, and some monotonic clocks stand
 * still while the device sleeps: after a sleep of a month the server would no longer know it.
 */

/** Smaller steps change nothing that matters here, and are often a night's sleep. */
const JUMP_MS = 86_400_000;

/** The two clocks never differ by exactly as much as before, and less than this need not be noted. */
const NOTED_MS = 1_000;

/** `lived`: the monotonic clock. */
export function followClock(draft: Draft, lived: number | undefined): void {
  if (lived === undefined) return;
  const { clock, queue } = draft.state;
  const offset = draft.now - lived;
  const by = clock ? offset - clock.offset : 0;
  if (clock && Math.abs(by) < NOTED_MS) return;
  const isJump = by > JUMP_MS;
  set(draft, { clock: { offset, startedAt: clock ? clock.startedAt + (isJump ? by : 0) : draft.now } });
  if (!isJump) return;
  const moved = [...inOrder(queue)].filter(isUnsent).map((m) => ({ ...m, createdAt: m.createdAt + by }));
  set(draft, { queue: withChanged(queue, moved) });
  keep(draft, moved);
}

const isUnsent = ({ stage: { phase }, attempts }: Mutation): boolean =>
  attempts === 0 && (phase === "saving" || phase === "queued");

/** Whether the server may have forgotten the receipt of a write. */
export const isTooOld = ({ createdAt }: Mutation, { now }: Draft): boolean => now - createdAt > limits.resendMs;

/** Of a write from before this client, nothing but the wall clock tells the age. */
export const tooOld = ({ createdAt }: Mutation, { state }: Draft): Failure =>
  localFailure(
    "too_old",
    `The write has waited so long that the server may have forgotten it${
      createdAt < (state.clock?.startedAt ?? 0)
        ? ", or this device's clock was changed: by that clock it was made on "
        : ". It was made on "
    }${dayOf(createdAt)}. Check the current record first.`,
  );

function dayOf(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "a day that does not exist" : date.toISOString().slice(0, 10);
}
