import type { Database } from "../../db/connection/pool.ts";
import { type Reading, readBehind, readDelivery } from "../../db/webhooks/deliveries.ts";
import type { Endpoint } from "../../db/webhooks/webhook-endpoints.ts";
import { newId } from "../../ids.ts";
import {
  beginAttempt,
  type Delivery as DeliveryState,
  dueIn,
  endAttempt,
  lastEnd,
  passOver,
} from "../../rules/webhooks/delivery.ts";
import { interrupted } from "../../rules/webhooks/delivery-outcome.ts";
import { batchOf, cutBatch, webhookIdOf } from "../../rules/webhooks/webhook-batch.ts";
import {
  type AttemptDeps,
  attemptBatch,
  attemptOf,
  type Batch,
  type Known,
  type Over,
  positionsOf,
} from "./attempt-batch.ts";
import type { Pace } from "./delivery-pace.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import { createNextEvents, endpointKey } from "./next-events.ts";
import type { WebhookEvents } from "./webhook-events.ts";

export interface DeliverDeps extends AttemptDeps {
  readonly db: Database;
  readonly events: WebhookEvents;
  readonly deliveryStore: DeliveryStore;
  readonly pace: Pace;
  /** Milliseconds that only go forward. */
  readonly monotonic: () => number;
  /** 0 to 1. */
  readonly random: () => number;
}

const RETRY_SAVE_MS = 500;

export interface Delivery {
  /** The endpoints of these tenants that are behind, and in how many milliseconds something is due. */
  behind(tenants: readonly number[]): Promise<DueEndpoint[]>;
  /** Answers in how many milliseconds it goes on, where that is known. */
  deliver(reading: Reading, ending: Ending, progressed?: () => void): Promise<number | undefined>;
  /** Ends an attempt that nobody ended, when its lease is over. */
  endLost(reading: Reading): Promise<void>;
}

export interface DueEndpoint {
  readonly key: string;
  readonly tenant: number;
  readonly inMs: number;
  readonly what: Reading;
}

/** The server stops: nothing more is begun, and later what is under way is given up. */
export interface Ending {
  readonly begun: AbortSignal;
  readonly over: AbortSignal;
}

/**
 * Brings one endpoint on, as far as it can be now:
 *
 *   read the log from its cursor ─► cut a batch ─► count the attempt, take the lease ─► send ─► what came of it ─► again
 *
 * Nothing is held in memory that matters: whoever comes next begins with what the row says.
 */
export function createDelivery(deps: DeliverDeps): Delivery {
  const { db, events, deliveryStore, times, pace, monotonic, random } = deps;
  const { nextEvents, keepInMind } = createNextEvents(events);
  const sendBatch = attemptBatch(deps);

  /** The clock is read no earlier than it was asked for: by ours it is rather later than too early. */
  function known({ endpoint, now }: Reading, askedAt: number): Known {
    return { endpoint, now: () => now + Math.ceil(monotonic() - askedAt) };
  }

  async function save(change: Parameters<DeliveryStore["save"]>[0]): Promise<Known | undefined> {
    const askedAt = monotonic();
    const saved = await deliveryStore.save(change);
    return saved && known(saved, askedAt);
  }

  async function read({ tenant, id }: Endpoint): Promise<Known | undefined> {
    const askedAt = monotonic();
    const found = await readDelivery(db, tenant, id);
    return found && known(found, askedAt);
  }

  /** Nothing up to there is for it. */
  async function pass({ endpoint, now }: Known, to: number): Promise<Known | undefined> {
    if (keepInMind(endpoint, to, now())) return undefined;
    return await save({ endpoint, delivery: passOver(endpoint.delivery, to) });
  }

  /**
   * Sends a batch, and after each that was taken the next one, as long as there is any. What came of one and that the next
   * one is begun is written down together: if that cannot be, then what came of it alone.
   */
  async function attempt(
    from: Known,
    first: Batch,
    ending: Ending,
    progressed: () => void,
  ): Promise<Known | undefined> {
    let [at, delivery, batch, over]: [Known, DeliveryState, Batch, Over | undefined] = [
      from,
      from.endpoint.delivery,
      first,
      undefined,
    ];
    for (;;) {
      const begin = beginAttempt(delivery, batch.to, newId("del_"), at.now(), times);
      const saving = save({ endpoint: at.endpoint, delivery: begin, attempt: over?.noted });
      const begun: Known | undefined = await (over ? saving.catch(() => undefined) : saving);
      // Somebody else is at it, or its owner changed it.
      if (!begun) return over && (await end(over));
      over = await sendBatch(begun, batch, ending.over);
      progressed();
      const ended = over.outcome.kind === "succeeded" ? endOf(begun, over) : undefined;
      const next =
        ended && !ending.begun.aborted
          ? await nextBatch({ ...begun.endpoint, delivery: ended }).catch(() => undefined)
          : undefined;
      if (!ended || !next) return await end(over);
      [at, delivery, batch] = [begun, ended, next];
    }
  }

  async function nextBatch(endpoint: Endpoint): Promise<Batch | undefined> {
    const { delivery, head } = endpoint;
    if (delivery.disabledReason !== null || delivery.cursor >= head) return undefined;
    await pace();
    return cutBatch((await nextEvents(endpoint, head, delivery.batchSize)).found, delivery.batchSize);
  }

  const endOf = ({ endpoint, now }: Known, { sent, outcome }: Over): DeliveryState | undefined =>
    endAttempt(endpoint.delivery, sent, outcome, { now: now(), random: random(), times });

  /** Writes down what came of an attempt, in view of what was changed meanwhile; as long as the lease is ours. */
  async function end(over: Over): Promise<Known | undefined> {
    let at: Known | undefined = over.begun;
    while (at) {
      const { endpoint, now }: Known = at;
      const delivery = endOf(at, over);
      if (!delivery) return undefined;
      try {
        const saved = await save({ endpoint, delivery, attempt: stillNoted(over, endpoint.delivery) });
        if (saved) return saved;
        at = await read(endpoint);
      } catch (error) {
        // Without this the batch would go out once more: it is tried as long as nobody else may send.
        if (!endpoint.delivery.lease || now() > endpoint.delivery.lease.until) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_SAVE_MS));
      }
    }
    return undefined;
  }

  /** An attempt that nobody ended: its sender was killed, or lost the database. */
  async function endLost(at: Known): Promise<Known | undefined> {
    const { endpoint } = at;
    const { delivery } = endpoint;
    const { lease, batchTo, cursor, revision } = delivery;
    if (!lease) return at;
    const isTest = lease.token.startsWith(TEST_LEASE);
    const { found } =
      isTest || batchTo === null ? { found: [] } : await nextEvents(endpoint, batchTo, delivery.batchSize);
    const batch = batchOf(found);
    // Nothing was tried that counts.
    if (!batch) return await save({ endpoint, delivery: { ...delivery, lease: null } });
    const sent = { lease: lease.token, revision, cursor, positions: positionsOf(batch) };
    const over = lastEnd(lease, times);
    const next = endAttempt(delivery, sent, interrupted, { now: over, random: random(), times });
    const noted = {
      ...attemptOf(interrupted, batch, webhookIdOf(endpoint.id, revision, batch), delivery.attempt),
      response: null,
      startedAt: new Date(lease.at).toISOString(),
      durationMs: over - lease.at,
    };
    return next && (await save({ endpoint, delivery: next, attempt: noted }));
  }

  /** How it is then; undefined: there is nothing more to do. */
  async function step(at: Known, ending: Ending, progressed: () => void): Promise<Known | undefined> {
    const { endpoint } = at;
    const { delivery, head } = endpoint;
    if (delivery.lease) return await endLost(at);
    await pace();
    const { found, to } = await nextEvents(endpoint, delivery.batchTo ?? head, delivery.batchSize);
    const batch = cutBatch(found, delivery.batchSize);
    return batch ? await attempt(at, batch, ending, progressed) : await pass(at, to);
  }

  return {
    async endLost(reading) {
      const at = known(reading, monotonic());
      if (at.endpoint.delivery.lease && at.endpoint.delivery.lease.until <= at.now()) await endLost(at);
    },
    behind: async (tenants) =>
      (await readBehind(db, tenants)).map((reading) => ({
        key: endpointKey(reading.endpoint),
        tenant: reading.endpoint.tenant,
        inMs: dueIn(reading.endpoint.delivery, reading.now, times) ?? Number.POSITIVE_INFINITY,
        what: reading,
      })),
    async deliver(reading, ending, progressed = () => {}) {
      let at: Known | undefined = known(reading, monotonic());
      while (at && !ending.begun.aborted && at.endpoint.delivery.cursor < at.endpoint.head) {
        const inMs = dueIn(at.endpoint.delivery, at.now(), times);
        if (inMs === undefined || inMs > 0) return inMs;
        at = await step(at, ending, progressed);
      }
      return undefined;
    },
  };
}

/** An answer to what is told differently by now may repeat a value that was erased meanwhile: it is not kept. */
const stillNoted = ({ noted, sent }: Over, { revision }: DeliveryState): Over["noted"] =>
  sent.revision === revision ? noted : { ...noted, response: null };

/** Of a lease for a test: who takes it has nothing to send again. */
export const TEST_LEASE = "test_";
