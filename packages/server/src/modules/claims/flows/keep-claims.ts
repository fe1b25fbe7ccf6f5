import { limits } from "@holdfast/sdk/protocol";
import type { RecordName } from "../../../kernel/commits/db/records.ts";
import type { CommitLanes } from "../../../kernel/commits/flows/commit-lanes.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import { readDueQueues, readNextExpiry, readPassedOver, type SilentWaiter, touchWaiters } from "../db/claim-times.ts";
import { holderName } from "../rules/claim.ts";
import type { ClaimOrder } from "../rules/claim-order.ts";
import { claimAsk } from "./claims-in-rounds.ts";

/** A participant who is there, and its device. */
interface Present {
  readonly tenant: number;
  /** `<kind>:<id>` */
  readonly participant: string;
  readonly clientId: string | null;
}

/** Queues that are brought up to date at once. */
const STEP = 500;

type Advance = Extract<ClaimOrder, { kind: "advance" }>;

/**
 * Brings queues up to date that have expired leases or lost waiters. Returns the milliseconds until the next lease
 * expires. Does not wait for the lane: a tenant whose head is locked elsewhere is skipped until its order completes,
 * and does not delay other tenants.
 */
export function keepClaims(db: Database, lane: CommitLanes, failed: (error: unknown) => void) {
  const busy = new Set<number>();

  async function advanceTenant(tenant: number, queues: readonly RecordName[]): Promise<void> {
    busy.add(tenant);
    await advanceQueues(
      lane,
      queues.map(({ model, id }) => ({ kind: "advance", tenant, model, record: id })),
    )
      .catch(failed)
      .finally(() => busy.delete(tenant));
  }

  return async (): Promise<number | undefined> => {
    // Read this before the due queues: a lease that expires between the two reads is then found by one of them.
    const next = await readNextExpiry(db);
    const { waiterSilentMs: silentMs, waiterGoneMs: goneMs } = limits;
    const due = await readDueQueues(db, { goneMs, but: [...busy], most: STEP });
    const passedOver = await readPassedOver(db, { silentMs, goneMs, but: [...busy], most: STEP });
    const queues = [...due, ...passedOver];
    for (const tenant of new Set(queues.map((queue) => queue.tenant)))
      void advanceTenant(
        tenant,
        queues.filter((queue) => queue.tenant === tenant),
      );
    return due.length >= STEP ? 0 : next;
  };
}

/**
 * Records that these participants' streams are open. Their waiters keep their position, and silent ones may be granted
 * at once.
 */
export const keepWaiters =
  (db: Database, lane: CommitLanes) =>
  async (present: readonly Present[]): Promise<void> => {
    const alive = holdersOn(present);
    const silent: SilentWaiter[] = [];
    // Touch all waiters before any queue is brought up to date, so that a waiter does not fall silent while another
    // tenant's queue is slow.
    for (let from = 0; from < alive.length; from += STEP)
      silent.push(...(await touchWaiters(db, alive.slice(from, from + STEP), limits.waiterSilentMs)));
    let failure: unknown;
    for (let from = 0; from < silent.length; from += STEP)
      await advanceQueues(
        lane,
        silent
          .slice(from, from + STEP)
          .map(({ tenant, model, id, claimId }) => ({ kind: "advance", tenant, model, record: id, alive: [claimId] })),
      ).catch((error: unknown) => {
        failure ??= error;
      });
    if (failure) throw failure;
  };

/**
 * A claim without a device is kept alive by any of the participant's devices, a claim for a device only by that one.
 */
function holdersOn(present: readonly Present[]) {
  const keys = new Map<string, { tenant: number; holder: string }>();
  for (const { tenant, participant, clientId } of present)
    for (const device of [null, clientId]) {
      const holder = holderName({ participant, clientId: device });
      keys.set(`${tenant}/${holder}`, { tenant, holder });
    }
  return [...keys.values()];
}

/** If the lane fails for some orders, their waiters stay silent until the next sign of life. */
async function advanceQueues(lane: CommitLanes, orders: readonly Advance[]): Promise<void> {
  const results = await Promise.all(orders.map((order) => lane.decide(claimAsk(order))));
  const lost = results.find((result) => result.kind === "failed");
  if (lost) throw new Error(`Claims could not be updated: ${lost.code}.`);
}
