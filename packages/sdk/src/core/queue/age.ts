import { clientLimits as limits } from "../../protocol/client-limits.ts";
import { canSend } from "../connection/auth.ts";
import { type Draft, emit, keep, set } from "../draft.ts";
import { unverify } from "../log/reading-state.ts";
import type { ClientState, QueueState } from "../state.ts";
import { type Failure, localFailure } from "./failure.ts";
import { expectedSlot, lastingPhase, type Mutation } from "./mutation.ts";
import { inOrder } from "./queue.ts";
import { withChanged } from "./queue-changes.ts";

/*
 * How old a write is that may have been sent, the server's clock says: such a write is stored with when it was made by
 * that clock, and nothing is sent before the server has said its time in this life of the client. If the device's two
 * clocks leave each other by more than an hour, it was set, or the device has slept: the server says its time again.
 *
 * How long a write has waited that was never sent, the time says that the client has lived through, because a device's
 * clock may be years off until it is set. If the wall clock leaves the monotonic clock behind, it was set, and the times
 * of such writes move along, also on disk. So they do for all writes of a server that does not say its time, if the clock
 * is set back: no sleep does that, and by the time of a clock that was fast, they would be too young for weeks. If it is
 * set forward, one that was sent keeps its time: it may be in the log, and some monotonic clocks stand still while the
 * device sleeps.
 *
 * So what the disk says of a write counts, also for the next client, a tab that begins to lead, and an export. A write
 * is stored as unsent only if it cannot be sent at once, and it is stored without that mark before it is sent.
 */

/** Smaller steps change nothing that matters here, and are often a night's sleep. */
const JUMP_MS = 86_400_000;

/** The two clocks never differ by exactly as much as before, and less than this need not be noted. */
const NOTED_MS = 1_000;

/** If the two clocks have left each other by more, the device's may have been set, or the device has slept. */
const DRIFT_MS = 3_600_000;

/** The device's clock. The time of a step is never set back, so that no wait grows longer. */
export const wallOf = ({ wall, now }: Draft): number => wall ?? now;

/** `lived`: the monotonic clock. Returns true if the server has to say its time again. */
export function followClock(draft: Draft, lived: number | undefined): boolean {
  if (lived === undefined) return false;
  const { clock, queue, generation, lead } = draft.state;
  const offset = wallOf(draft) - lived;
  const by = clock ? offset - clock.offset : 0;
  if (clock && Math.abs(by) < NOTED_MS) return false;
  const moves = by < 0 || by > JUMP_MS;
  const startedAt = clock ? clock.startedAt + (moves ? by : 0) : wallOf(draft);
  const { checkedOffset = offset, ahead } = clock ?? {};
  const isSure = Math.abs(offset - checkedOffset) < DRIFT_MS;
  set<QueueState>(draft, {
    clock: { offset, startedAt, ...(isSure ? { checkedOffset, ahead } : { checkedOffset: offset }) },
  });
  if (!isSure) unverify(draft);
  if (!moves) return !isSure;
  // The leader may have moved it before.
  const moved = [...inOrder(queue)]
    .filter(({ unsent, stage }) => (unsent || by < 0) && lastingPhase(stage) === "queued")
    .map((m) => ({
      ...m,
      createdAt: Math.min(m.createdAt + by, wallOf(draft)),
      ...(lead !== "yes" && { unmovedAt: m.unmovedAt ?? m.createdAt }),
    }));
  set<QueueState>(draft, { queue: withChanged(queue, moved) });
  keep(draft, moved);
  // A later leader may know nothing of the clock that was fast. That a write is unsent may no longer be so.
  if (generation === undefined && by < -JUMP_MS)
    persist(
      draft,
      moved.filter((m) => !m.unsent),
    );
  return !isSure;
}

/** The server says its time. What another tab has heard does not count: it does not say whether the clock was set since. */
export function onServerTime(draft: Draft, { serverTime }: { readonly serverTime?: string | undefined }): void {
  const { clock } = draft.state;
  const ms = serverTime === undefined ? Number.NaN : wallOf(draft) - Date.parse(serverTime);
  if (!clock || Number.isNaN(ms)) return;
  const { ahead = Number.NaN, offset, checkedOffset } = clock;
  if (Math.abs(ms - ahead) < NOTED_MS && offset === checkedOffset) return;
  set<QueueState>(draft, { clock: { ...clock, ahead: ms, checkedOffset: offset } });
}

/** When a write was made, by the server's clock. */
const madeAt = ({ clock }: ClientState, { createdAt }: Mutation): number | undefined =>
  clock?.ahead === undefined ? undefined : createdAt - clock.ahead;

/** What is stored of a new write: if it can be sent at once, it counts as sent, so that it is stored only once. */
function unsentIn(state: ClientState): true | undefined {
  const { lead, storageTrouble, reading } = state;
  const sends = lead === "yes" || storageTrouble !== undefined;
  return (sends ? reading.verified && canSend(state) : isSentByLeader(state)) ? undefined : true;
}

/** If this tab does not know the server's time, the leader stores when the write was made, before it sends it. */
const isSentByLeader = ({ tabs: { connection }, clock }: ClientState): boolean =>
  connection?.name === "online" && clock?.ahead !== undefined;

/** A new write, as it is stored. */
export function asNew(m: Mutation, { state }: Draft): Mutation {
  const unsent = unsentIn(state);
  return { ...m, unsent, madeAt: unsent ? undefined : madeAt(state, m) };
}

/** If it was made by a clock that was set back since, its time would never come. */
export function asSent({ unsent, ...m }: Mutation, draft: Draft): Mutation {
  if (!unsent) return m;
  const sent = { ...m, createdAt: Math.min(m.createdAt, wallOf(draft)) };
  return { ...sent, madeAt: madeAt(draft.state, sent) };
}

/**
 * The disk will not tell this tab any more which of its writes a leader is about to send. If it does not lead itself, a
 * leader may have sent any of them before the device slept.
 */
export function doubtUnsent(draft: Draft): void {
  const { queue, lead } = draft.state;
  if (lead === "yes") return;
  const stored = [...inOrder(queue)].filter(({ unsent, seq }) => unsent && seq !== undefined);
  const doubted = stored.map(({ unsent, unmovedAt, ...m }) => ({ ...m, createdAt: unmovedAt ?? m.createdAt }));
  set<QueueState>(draft, { queue: withChanged(queue, doubted) });
}

/** Another device may send what is exported, under the same names. */
export function onExported(draft: Draft): void {
  const marked = [...inOrder(draft.state.queue)].filter((m) => m.unsent).map((m) => asSent(m, draft));
  if (marked.length === 0) return;
  set<QueueState>(draft, { queue: withChanged(draft.state.queue, marked) });
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
export function isTooOld(m: Mutation, draft: Draft): boolean {
  const { ahead } = draft.state.clock ?? {};
  const now = wallOf(draft);
  if (ahead !== undefined && m.madeAt !== undefined && !m.unsent) return now - ahead - m.madeAt > limits.resendMs;
  return now - m.createdAt > limits.resendMs || isFromFuture(m, draft);
}

/** It may have been sent by a clock that was set back since: how long ago, that clock does not tell. */
const isFromFuture = ({ createdAt, unsent }: Mutation, draft: Draft): boolean =>
  !unsent && createdAt - wallOf(draft) > JUMP_MS;

/** Neither the server nor time will tell. */
export const isUndated = (m: Mutation, draft: Draft): boolean => m.madeAt === undefined && isFromFuture(m, draft);

/** Of a write from before this client, nothing but the wall clock tells the age, unless the server has said its time. */
export const tooOld = ({ createdAt, madeAt }: Mutation, draft: Draft): Failure =>
  localFailure(
    "too_old",
    `The write has waited so long that the server may have forgotten it${
      madeAt === undefined && (createdAt < (draft.state.clock?.startedAt ?? 0) || createdAt > wallOf(draft))
        ? ", or this device's clock was changed: by that clock it was made on "
        : ". It was made on "
    }${dayOf(madeAt ?? createdAt)}. Check the current record first.`,
  );

function dayOf(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "a day that does not exist" : date.toISOString().slice(0, 10);
}
