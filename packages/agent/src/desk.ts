import type { JsonObject, ModelSchema, SyncClient } from "@holdfast/sdk";
import { type Refusal, refuse } from "./answer.ts";
import { createHoldings, type Holdings } from "./holdings.ts";
import { createReadings, type Readings } from "./readings.ts";

/** What all tools of one agent share. */
export interface Desk {
  readonly client: SyncClient<ModelSchema>;
  readonly schema: ModelSchema;
  readonly readings: Readings;
  readonly holdings: Holdings;
  /** How long an answer of the service is waited for. */
  readonly answerMs: number;
  /** What became of writes that were answered as queued, until it is told. */
  readonly late: Refusal[];
}

export interface DeskOptions {
  readonly client: SyncClient<ModelSchema>;
  readonly schema: ModelSchema;
  readonly answerMs: number;
  readonly claimIdleMs: number;
}

export function createDesk({ client, schema, answerMs, claimIdleMs }: DeskOptions): Desk {
  return {
    client,
    schema,
    answerMs,
    readings: createReadings(client),
    holdings: createHoldings(claimIdleMs),
    late: [],
  };
}

/** Undefined as soon as records can be read; else why they cannot. */
export async function unreadable({ client, answerMs }: Desk): Promise<Refusal | undefined> {
  if (
    await within(
      client.ready().then(() => true),
      answerMs,
    )
  )
    return undefined;
  const { name, reason } = client.status();
  return refuse("not_connected", reason ?? "The records have not been read yet.", { connection: name });
}

/** Said with what was read, unless it is certain to be what is there now. */
export function connectionOf({ client }: Desk): { connection?: string } {
  const { name } = client.status();
  return name === "online" ? {} : { connection: name };
}

/** Undefined: it took longer. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

export const rowOf = ({ client }: Desk, model: string, id: string): JsonObject | undefined =>
  client.models[model]?.get(id) as JsonObject | undefined;
