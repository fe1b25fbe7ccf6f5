import type { IncomingHttpHeaders } from "node:http";

export interface Answer {
  readonly request: Sent;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; an empty object if it is not a JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | undefined;
}

export interface AskOptions {
  /** Null: no token. Absent: the key of the run. */
  readonly token?: string | null;
  /** Idempotency key, as a header. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** A value to send as JSON. */
  readonly json?: unknown;
  readonly bytes?: string | Buffer;
  /** True: the case expects a 429, so `ask` does not send again. */
  readonly noRetry?: boolean;
}

export type Ask = (method: string, path: string, options?: AskOptions) => Promise<Answer>;

export type Row = Readonly<Record<string, unknown>>;

export interface Entry {
  readonly object: "log_entry";
  readonly syncId: number;
  readonly model: string;
  readonly id: string;
  readonly verb: string;
  readonly data: Row | null;
  readonly changedFields: readonly string[] | null;
  readonly clientTxId: string;
  readonly clientId: string | null;
  readonly transactionId: string | null;
  readonly actor: string;
  readonly participantKind: string;
  readonly createdAt: string;
  readonly left?: boolean;
  readonly reason?: string;
  readonly run?: string;
  readonly onBehalfOf?: string;
  readonly meta?: Row;
}

export interface Receipt {
  readonly clientTxId: string;
  readonly serverTxId: string;
  readonly success: boolean;
  readonly status: string;
  readonly lastSyncId: number;
  readonly logId: string;
  readonly ops: number;
  readonly missingIds?: readonly string[];
  readonly notifications?: readonly Notice[];
  readonly id?: string;
}

export interface Notice {
  readonly model: string;
  readonly id: string;
  readonly writtenBy: string;
  readonly group?: string;
  readonly readAt: number;
  readonly observedSyncId: number;
  readonly conflictingFields: readonly string[];
  readonly currentValues?: Row;
  readonly currentValuesOmitted?: true;
}

export const receiptOf = (answer: Answer): Receipt => answer.body as unknown as Receipt;
export const positionOf = (answer: Answer): number => Number(answer.body.lastSyncId);
/** The record of a read. */
export const dataOf = (answer: Answer): Row => (answer.body.data ?? {}) as Row;
/** The items of a list. */
export const rowsOf = (answer: Answer): readonly Row[] => (Array.isArray(answer.body.data) ? answer.body.data : []);
export const idsOf = (answer: Answer): readonly unknown[] => rowsOf(answer).map(({ id }) => id);
export const entriesOf = (answer: Answer): readonly Entry[] => rowsOf(answer) as unknown as readonly Entry[];
export const noticesOf = (answer: Answer): readonly Notice[] => receiptOf(answer).notifications ?? [];
