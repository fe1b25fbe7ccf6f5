import type { Database } from "../../../kernel/connection/pool.ts";
import { type DeliveryChange, type EndpointReading, type Saved, saveDeliveries } from "../db/deliveries.ts";

/**
 * Saves the state of deliveries. Changes that arrive during a write are saved together in the next one: twenty
 * endpoints that are notified at the same time cost one transaction, not twenty.
 */
export interface DeliveryStore {
  /** Returns the endpoint after the change. Undefined if it was changed or removed since it was read. */
  save(change: DeliveryChange): Promise<EndpointReading | undefined>;
}

interface Waiting {
  readonly change: DeliveryChange;
  resolve(saved: EndpointReading | undefined): void;
  reject(error: unknown): void;
}

const CHUNK = 100;

export function createDeliveryStore(db: Database): DeliveryStore {
  let waiting: Waiting[] = [];
  let writing = false;

  async function write(): Promise<void> {
    if (writing) return;
    writing = true;
    while (waiting.length > 0) {
      const taken = waiting.slice(0, CHUNK);
      waiting = waiting.slice(CHUNK);
      await saveDeliveries(db, inOrder(taken.map(({ change }) => change))).then(
        (saved) => {
          const byKey = new Map(saved.map((one) => [keyOf(one), one]));
          for (const { change, resolve } of taken) resolve(after(change, byKey.get(keyOf(change.endpoint))));
        },
        (error: unknown) => {
          for (const { reject } of taken) reject(error);
        },
      );
    }
    writing = false;
  }

  return {
    save: (change) =>
      new Promise((resolve, reject) => {
        waiting.push({ change, resolve, reject });
        void write();
      }),
  };
}

/** The state of an endpoint after a saved change. */
export function after({ endpoint, delivery }: DeliveryChange, saved: Saved | undefined): EndpointReading | undefined {
  if (!saved) return undefined;
  const { version, head, schemaVersion, erasedTo, now } = saved;
  return { endpoint: { ...endpoint, delivery, version, head, schemaVersion, erasedTo }, now };
}

const keyOf = ({ tenant, id }: { tenant: number; id: string }): string => `${tenant}/${id}`;

/** Every process locks rows in this order. */
const inOrder = (changes: readonly DeliveryChange[]): DeliveryChange[] =>
  changes.toSorted(({ endpoint: a }, { endpoint: b }) => a.tenant - b.tenant || (a.id < b.id ? -1 : 1));
