import type { JsonObject, ModelSchema, SyncClient, SyncStatus, WriteOptions } from "@holdfast/sdk";
import { type Refusal, refuse } from "./answer.ts";
import { createHeldLeases, type HeldLeases } from "./held-leases.ts";
import { createReadSet, type ReadSet } from "./read-set.ts";

/** What the agent is doing, and for whom: said with all that it writes and claims. */
export interface WorksFor {
  readonly run?: string | undefined;
  readonly onBehalfOf?: string | undefined;
}

export type Propose = NonNullable<WriteOptions["propose"]>;

/** What all tools of one agent share. */
export interface ToolContext {
  readonly client: SyncClient<ModelSchema>;
  readonly schema: ModelSchema;
  readonly worksFor: WorksFor;
  /** Updates are proposals, in this branch if it names one. */
  readonly propose: Propose | undefined;
  readonly readSet: ReadSet;
  readonly leases: HeldLeases;
  /** How long to wait for an answer of the service. */
  readonly answerMs: number;
  /** The outcomes of writes that were answered as queued, until they are reported. Only then they count as read. */
  readonly late: (() => Refusal)[];
}

export interface ToolContextOptions {
  readonly client: SyncClient<ModelSchema>;
  readonly schema: ModelSchema;
  readonly worksFor?: WorksFor;
  readonly propose?: Propose | undefined;
  readonly answerMs: number;
  readonly claimIdleMs: number;
}

export function createToolContext({
  client,
  schema,
  worksFor = {},
  propose,
  answerMs,
  claimIdleMs,
}: ToolContextOptions): ToolContext {
  return {
    client,
    schema,
    worksFor,
    propose,
    answerMs,
    readSet: createReadSet(client),
    leases: createHeldLeases(claimIdleMs),
    late: [],
  };
}

/** How long to wait for a first connection, because stored rows may be old. */
const LINE_MS = 3_000;

/** Undefined as soon as records can be read; otherwise why they cannot. */
export async function unreadable(context: ToolContext): Promise<Refusal | undefined> {
  const { client, answerMs } = context;
  const ready = client.ready().then(() => true);
  const over = new AbortController();
  const refused = until(client, () => withoutToken(context) !== undefined, answerMs, over.signal).then(() => false);
  const isReady = await within(Promise.race([ready, refused]), answerMs);
  // Or its timer would keep the process for as long as a tool may take.
  over.abort();
  const refusal = withoutToken(context);
  if (refusal) return refusal;
  if (!isReady) {
    const { name, reason } = client.status();
    return refuse("not_connected", reason ?? "The client has not read the records yet. Try again later.", {
      connection: name,
    });
  }
  await until(client, () => !isOpening(client.status()), LINE_MS);
  return withoutToken(context);
}

/** Without a valid token nothing can be done, and the stored rows may be out of date or another participant's. */
export function withoutToken({ client }: ToolContext): Refusal | undefined {
  const { name, reason } = client.status();
  return name === "needs-auth" ? refuse("needs_auth", reason ?? "The server refuses the token.") : undefined;
}

/** Connecting for the first time. The tools do not wait for a connection that has failed once. */
const isOpening = ({ name, reason }: SyncStatus) =>
  name === "starting" || (name === "connecting" && reason === undefined);

/** Added to a result unless the rows are certain to be current. */
export function connectionOf({ client }: ToolContext): { connection?: string } {
  const { name } = client.status();
  return name === "online" ? {} : { connection: name };
}

/** Resolves when the condition holds, the time is over, or the signal is aborted. */
export async function until(
  client: ToolContext["client"],
  isSo: () => boolean,
  ms: number,
  signal?: AbortSignal,
): Promise<void> {
  let off = () => {};
  const seen = new Promise<void>((resolve) => {
    off = client.subscribe(() => isSo() && resolve());
    signal?.addEventListener("abort", () => resolve(), { once: true });
    if (isSo()) resolve();
  });
  await within(seen, ms);
  off();
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

export const rowOf = ({ client }: ToolContext, model: string, id: string): JsonObject | undefined =>
  client.models[model]?.get(id) as JsonObject | undefined;
