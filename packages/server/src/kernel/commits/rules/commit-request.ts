import type {
  AcceptBody,
  Action,
  ChangeAttribution,
  EndpointName,
  JsonObject,
  Moment,
  Operation,
  Propose,
  Read,
  WriteStep,
} from "@holdfast/sdk/protocol";
import type { Refusal } from "../../refusal.ts";
import { nameOf, type Principal } from "../../tokens/rules/participant.ts";
import type { Writer } from "./stale.ts";

/** What an operation does. `erase` is not part of a batch; it has its own route. */
export type CommitAction = Action | "erase";

/**
 * What an action does to the row. An erase deletes the row and then removes the values from everything that stores
 * them.
 */
export const rowAction = (action: CommitAction): Action => (action === "erase" ? "delete" : action);

/** An operation as the lane uses it: aliases resolved, model name in lower case. */
export interface CommitOperation extends Omit<Operation, "action"> {
  readonly action: CommitAction;
  /** Hash of the operation without its key. Set only if it has a key of its own. */
  readonly fingerprint?: string;
  /** The server generated its id (only for a favorite), so the receipt names it. */
  readonly makesId?: boolean;
  /** It has already happened in a table, so an update of a record that is not known creates it. */
  readonly happened?: true;
  /** Of what has happened in a table: why the record's values cannot be read. */
  readonly unreadable?: string;
  /** Of an archive that has happened in a table: since when its row says so. */
  readonly archivedAt?: string;
}

/** What the operation does to the row. */
export const stepOf = ({ action, id, data, changes }: CommitOperation): WriteStep => ({
  action: rowAction(action),
  id,
  data: data as JsonObject | undefined,
  changes,
});

/** How a commit decides a proposal. */
export interface ProposalDecision {
  readonly id: string;
  readonly how: "accept" | "reject" | "withdraw";
  /** A word to its author. */
  readonly reason: string | undefined;
  /** How operations are taken that it does not have yet. Absent: the commit has its operations. */
  readonly taking?: Pick<AcceptBody, "take" | "onStale" | "readAt">;
  /** What it takes of it. Absent: all of it, or it rejects it. */
  readonly take?: AcceptBody["take"];
  /** The values are not those that were proposed. */
  readonly edited?: true;
  /** Why it cannot be decided like this. */
  readonly problem?: Refusal;
}

/** One atomic commit, ready to be judged. The edge has checked its shape and generated its ids. */
export interface CommitRequest {
  readonly principal: Principal;
  readonly endpoint: EndpointName;
  /** Path and batch routes name refused fields differently: `data.title` or `operations[6].data.title`. */
  readonly single: boolean;
  readonly operations: readonly CommitOperation[];
  readonly reads: readonly Read[];
  readonly clientId: string | null;
  /** Why it is made, in which run, and for whom. Undefined: nothing is said. */
  readonly attribution?: ChangeAttribution | undefined;
  /** Its author asks for it, and makes nothing of it yet. */
  readonly propose?: Exclude<Propose, true> | undefined;
  /** The proposal that it decides. */
  readonly decides?: ProposalDecision | undefined;
  /** The version of the schema whose names it has. Undefined: whichever is current. */
  readonly schemaVersion?: number;
  /** The log that the commit's positions refer to, if it names one. */
  readonly logId: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** The caller's name for the commit, else its key, else a generated one. */
  readonly clientTxId: string;
  readonly serverTxId: string;
  /** Hash of endpoint, path and body. The same key with another fingerprint is a conflict. */
  readonly fingerprint: string;
}

/** The names that a commit's receipt is stored under: its key and its clientTxId, usually the same. */
export const namesOf = (commit: CommitRequest): readonly string[] =>
  commit.idempotencyKey === undefined || commit.idempotencyKey === commit.clientTxId
    ? [commit.clientTxId]
    : [commit.idempotencyKey, commit.clientTxId];

/** Keys of single operations have a separate namespace: no other key may contain a space. */
export const operationKeyName = (key: string): string => `operation ${key}`;

export const recordKey = (model: string, id: string): string => `${model}/${id}`;

/** The keys of every record that a commit touches. */
export const touched = (commit: CommitRequest): readonly string[] =>
  commit.operations.map((operation) => recordKey(operation.model, operation.id));

export const writerOf = ({ principal, clientId }: CommitRequest): Writer => ({
  writtenBy: nameOf(principal),
  clientId,
});

/** What the defaults of a create are filled in by. */
export const momentOf = ({ now }: { readonly now: string }, commit: CommitRequest): Moment => ({
  now,
  by: writerOf(commit).writtenBy,
});
