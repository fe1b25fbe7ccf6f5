import type { Action, EndpointName, Operation, Read } from "@holdfast/sdk/protocol";
import type { Principal } from "../tokens/participant.ts";

/** What an operation does. Erasing is no action of a batch: it has a route of its own. */
export type CommitAction = Action | "erase";

/** What an action does to the row. Erasing goes on from there: it also takes the values out of everything that kept them. */
export const rowAction = (action: CommitAction): Action => (action === "erase" ? "delete" : action);

/** One operation as the lane sees it: aliases translated, model name in lower case. */
export interface CommitOperation extends Omit<Operation, "action"> {
  readonly action: CommitAction;
  /** Of the operation without its key; only there when it carries a key of its own. */
  readonly fingerprint?: string;
  /** Its id is the server's (favorite alone): the receipt names it. */
  readonly makesId?: boolean;
}

/** One atomic commit, ready to be judged. The edge has checked its shape and made its ids. */
export interface CommitRequest {
  readonly principal: Principal;
  readonly endpoint: EndpointName;
  /** Path and batch routes name refused fields differently: `data.title` or `operations[6].data.title`. */
  readonly single: boolean;
  readonly operations: readonly CommitOperation[];
  readonly reads: readonly Read[];
  readonly clientId: string | null;
  /** The log that its positions count in, if it says so. */
  readonly logId: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** The caller's name for the commit, else its key, else a made one. */
  readonly clientTxId: string;
  readonly serverTxId: string;
  /** Over endpoint, path and body: the same key with another one is a conflict. */
  readonly fingerprint: string;
}

/** What a commit's receipt is stored under: its key and the name that it is known by, mostly the same. */
export const namesOf = (commit: CommitRequest): readonly string[] =>
  commit.idempotencyKey === undefined || commit.idempotencyKey === commit.clientTxId
    ? [commit.clientTxId]
    : [commit.idempotencyKey, commit.clientTxId];

/** An operation's own key lives in a name space of its own; a space cannot be part of a key. */
export const operationKeyName = (key: string): string => `operation ${key}`;

export const recordKey = (model: string, id: string): string => `${model}/${id}`;

/** Every record that a commit would touch. */
export const touched = (commit: CommitRequest): readonly string[] =>
  commit.operations.map((operation) => recordKey(operation.model, operation.id));
