import { limits } from "@holdfast/sdk/protocol";
import {
  readDueQueues,
  readNextExpiry,
  readPassedOver,
  type SilentWaiter,
  touchWaiters,
} from "../../db/claims/claim-times.ts";
import type { RecordName } from "../../db/commits/records.ts";
import type { Database } from "../../db/connection/pool.ts";
import { holderName } from "../../rules/claims/claim.ts";
import type { ClaimOrder } from "../../rules/claims/claim-order.ts";
import type { CommitLanes } from "../commits/commit-lanes.ts";

/** Somebody whose stream is open, and on which device. */
export interface Waiter {
  readonly tenant: number;
  /** `<kind>:<id>` */
  readonly participant: string;
  readonly clientId: string | null;
}

/** Lines that are brought up to the present at once. */
const STEP = 500;

type Settle = Extract<ClaimOrder, { kind: "settle" }>;

/**
 * Ends what time has ended, and hands it on. Answers in how many milliseconds the next lease is over. It is not waited for
 * what the lane makes of it: a tenant whose head is held elsewhere is left out until then, and keeps no other one waiting.
 */
export function keepClaims(db: Database, lane: CommitLanes, failed: (error: unknown) => void) {
  const busy = new Set<number>();

  async function settleTenant(tenant: number, queues: readonly RecordName[]): Promise<void> {
    busy.add(tenant);
    await settle(
      lane,
      queues.map(({ model, id }) => ({ kind: "settle", tenant, model, record: id })),
    )
      .catch(failed)
      .finally(() => busy.delete(tenant));
  }

  return async (): Promise<number | undefined> => {
    // Before what is due: a lease that ends in between is found by one of the two.
    const next = await readNextExpiry(db);
    const { waiterSilentMs: silentMs, waiterGoneMs: goneMs } = limits;
    const due = await readDueQueues(db, { goneMs, but: [...busy], most: STEP });
    const passedOver = await readPassedOver(db, { silentMs, goneMs, but: [...busy], most: STEP });
    const queues = [...due, ...passedOver];
    for (const tenant of new Set(queues.map((queue) => queue.tenant)))
      void settleTenant(
        tenant,
        queues.filter((queue) => queue.tenant === tenant),
      );
    return due.length >= STEP ? 0 : next;
  };
}

/** Notes that these participants' streams are open: those who wait keep their place, and may be next at once. */
export const keepWaiters =
  (db: Database, lane: CommitLanes) =>
  async (present: readonly Waiter[]): Promise<void> => {
    const alive = holdersOn(present);
    const silent: SilentWaiter[] = [];
    // All of them first: nobody falls silent because somebody else's turn is long in coming.
    for (let from = 0; from < alive.length; from += STEP)
      silent.push(...(await touchWaiters(db, alive.slice(from, from + STEP), limits.waiterSilentMs)));
    let failure: unknown;
    for (let from = 0; from < silent.length; from += STEP)
      await settle(
        lane,
        silent
          .slice(from, from + STEP)
          .map(({ tenant, model, id, claimId }) => ({ kind: "settle", tenant, model, record: id, alive: [claimId] })),
      ).catch((error: unknown) => {
        failure ??= error;
      });
    if (failure) throw failure;
  };

/** What waits for nobody's device in particular is kept alive by each, and what waits for one by that one. */
function holdersOn(present: readonly Waiter[]) {
  const keys = new Map<string, { tenant: number; holder: string }>();
  for (const { tenant, participant, clientId } of present)
    for (const device of [null, clientId]) {
      const holder = holderName({ participant, clientId: device });
      keys.set(`${tenant}/${holder}`, { tenant, holder });
    }
  return [...keys.values()];
}

/** Of whom the lane did not hear now, it hears with the next sign of life: until then they stay silent. */
async function settle(lane: CommitLanes, orders: readonly Settle[]): Promise<void> {
  const results = await Promise.all(orders.map((order) => lane.decide(order)));
  const lost = results.find((result) => result.kind === "failed");
  if (lost) throw new Error(`Claims could not be updated: ${lost.code}.`);
}
