import { newId } from "../../../ids.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import { type EndpointReading, readBehind, readDelivery } from "../db/deliveries.ts";
import type { Endpoint } from "../db/webhook-endpoints.ts";
import { beginAttempt, type DeliveryState, dueIn, endAttempt, lastEnd, passOver } from "../rules/delivery.ts";
import { interrupted } from "../rules/delivery-outcome.ts";
import { batchOf, cutBatch, webhookIdOf } from "../rules/webhook-batch.ts";
import {
  type AttemptContext,
  type AttemptDeps,
  attemptBatch,
  attemptOf,
  type EventBatch,
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
  /** Milliseconds, monotonic. */
  readonly monotonic: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
}

const RETRY_SAVE_MS = 500;

export interface DeliveryFlow {
  /** The endpoints of these tenants with undelivered entries, and the milliseconds until each is due. */
  behind(tenants: readonly number[]): Promise<DueEndpoint[]>;
  /** Delivers what is due now. Returns the milliseconds until the next attempt, if known. */
  deliver(reading: EndpointReading, ending: StopSignals, progressed?: () => void): Promise<number | undefined>;
  /** Ends an attempt whose sender stopped, once its lease is over. */
  endLost(reading: EndpointReading): Promise<void>;
}

export interface DueEndpoint {
  readonly key: string;
  readonly tenant: number;
  readonly inMs: number;
  readonly what: EndpointReading;
}

/** The two stages of a server stop: first no new attempts start, later those in progress are aborted. */
export interface StopSignals {
  readonly begun: AbortSignal;
  readonly over: AbortSignal;
}

/**
 * Delivers to one endpoint for as long as something is due:
 *
 *   read the log from the cursor ─► cut a batch ─► save the attempt with a lease ─► send ─► save the result ─► repeat
 *
 * All state that matters is in the endpoint's row. So after a crash any process can continue from the row.
 */
export function createDelivery(deps: DeliverDeps): DeliveryFlow {
  const { db, events, deliveryStore, times, pace, monotonic, random } = deps;
  const { nextEvents, keepInMind } = createNextEvents(events);
  const sendBatch = attemptBatch(deps);

  /** `askedAt` is taken before the read, so our estimate of the database's time is late rather than early. */
  function known({ endpoint, now }: EndpointReading, askedAt: number): AttemptContext {
    return { endpoint, now: () => now + Math.ceil(monotonic() - askedAt) };
  }

  async function save(change: Parameters<DeliveryStore["save"]>[0]): Promise<AttemptContext | undefined> {
    const askedAt = monotonic();
    const saved = await deliveryStore.save(change);
    return saved && known(saved, askedAt);
  }

  async function read({ tenant, id }: Endpoint): Promise<AttemptContext | undefined> {
    const askedAt = monotonic();
    const found = await readDelivery(db, tenant, id);
    return found && known(found, askedAt);
  }

  /** Moves the cursor past entries that are not for this endpoint. */
  async function pass({ endpoint, now }: AttemptContext, to: number): Promise<AttemptContext | undefined> {
    if (keepInMind(endpoint, to, now())) return undefined;
    return await save({ endpoint, delivery: passOver(endpoint.delivery, to) });
  }

  /**
   * Sends batches until none is left or one fails. The result of a batch and the start of the next are saved in one
   * write. If that write fails, the result is saved alone.
   */
  async function attempt(
    from: AttemptContext,
    first: EventBatch,
    ending: StopSignals,
    progressed: () => void,
  ): Promise<AttemptContext | undefined> {
    let [at, delivery, batch, over]: [AttemptContext, DeliveryState, EventBatch, Over | undefined] = [
      from,
      from.endpoint.delivery,
      first,
      undefined,
    ];
    for (;;) {
      const begin = beginAttempt(delivery, batch.to, newId("del_"), at.now(), times);
      const saving = save({ endpoint: at.endpoint, delivery: begin, attempt: over?.noted });
      const begun: AttemptContext | undefined = await (over ? saving.catch(() => undefined) : saving);
      // Another process delivers to this endpoint, or its owner has changed it.
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

  async function nextBatch(endpoint: Endpoint): Promise<EventBatch | undefined> {
    const { delivery, head } = endpoint;
    if (delivery.disabledReason !== null || delivery.cursor >= head) return undefined;
    await pace();
    return cutBatch((await nextEvents(endpoint, head, delivery.batchSize)).found, delivery.batchSize);
  }

  const endOf = ({ endpoint, now }: AttemptContext, { sent, outcome }: Over): DeliveryState | undefined =>
    endAttempt(endpoint.delivery, sent, outcome, { now: now(), random: random(), times });

  /** Saves the result of an attempt, merged with changes made meanwhile, for as long as the lease is ours. */
  async function end(over: Over): Promise<AttemptContext | undefined> {
    let at: AttemptContext | undefined = over.begun;
    while (at) {
      const { endpoint, now }: AttemptContext = at;
      const delivery = endOf(at, over);
      if (!delivery) return undefined;
      try {
        const saved = await save({ endpoint, delivery, attempt: stillNoted(over, endpoint.delivery) });
        if (saved) return saved;
        at = await read(endpoint);
      } catch (error) {
        // Without this write the batch would be sent again. Retry while the lease keeps other processes from sending.
        if (!endpoint.delivery.lease || now() > endpoint.delivery.lease.until) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_SAVE_MS));
      }
    }
    return undefined;
  }

  /** Ends an attempt whose sender was killed or lost the database. */
  async function endLost(at: AttemptContext): Promise<AttemptContext | undefined> {
    const { endpoint } = at;
    const { delivery } = endpoint;
    const { lease, batchTo, cursor, revision } = delivery;
    if (!lease) return at;
    const isTest = lease.token.startsWith(TEST_LEASE);
    const { found } =
      isTest || batchTo === null ? { found: [] } : await nextEvents(endpoint, batchTo, delivery.batchSize);
    const batch = batchOf(found);
    // Nothing of the lost attempt is left to send: it was a test, or its events were erased. Only free the lease.
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

  /** One step of the loop. Returns the new state, or undefined if nothing is left to do. */
  async function step(
    at: AttemptContext,
    ending: StopSignals,
    progressed: () => void,
  ): Promise<AttemptContext | undefined> {
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
      let at: AttemptContext | undefined = known(reading, monotonic());
      while (at && !ending.begun.aborted && at.endpoint.delivery.cursor < at.endpoint.head) {
        const inMs = dueIn(at.endpoint.delivery, at.now(), times);
        if (inMs === undefined || inMs > 0) return inMs;
        at = await step(at, ending, progressed);
      }
      return undefined;
    },
  };
}

/**
 * The endpoint was revised during the attempt: drop the response, because it may repeat a value that was erased
 * meanwhile.
 */
const stillNoted = ({ noted, sent }: Over, { revision }: DeliveryState): Over["noted"] =>
  sent.revision === revision ? noted : { ...noted, response: null };

/** Marks the lease of a test request: if it is lost, nothing has to be sent again. */
export const TEST_LEASE = "test_";
