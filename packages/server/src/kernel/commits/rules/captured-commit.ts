import { nameOf } from "../../tokens/rules/participant.ts";
import type { CommitOperation, CommitRequest } from "./commit-request.ts";
import type { RecordChange } from "./record-change.ts";

/** Everything in the log that came from the caller's own SQL or service is written by `system:database`. */
const PARTICIPANT = { participantKind: "system", participantId: "database" } as const;
export const WRITTEN_BY = nameOf(PARTICIPANT);

/** The commit that a transaction of the caller's amounts to, or a part of it. */
export function capturedCommit(tenant: number, tx: string, changes: readonly RecordChange[]): CommitRequest {
  const name = `database_${tx}`;
  return {
    principal: {
      tenant,
      ...PARTICIPANT,
      organization: "",
      livemode: true,
      database: null,
      tokenId: "",
      tokenKind: "secret_key",
      expiresAt: null,
      scope: undefined,
    },
    endpoint: "commit",
    single: false,
    operations: changes.flatMap(operationsOf),
    reads: [],
    clientId: null,
    logId: undefined,
    idempotencyKey: undefined,
    clientTxId: name,
    serverTxId: name,
    fingerprint: "",
  };
}

/** Operations that have the effect of a change. One that leaves its record as it is, has none. */
export function operationsOf({ model, id, data, unreadable, archivedAt }: RecordChange): readonly CommitOperation[] {
  const named = { model, id, happened: true } as const;
  if (!data) return [{ ...named, action: "delete" }];
  const written = { ...named, action: "update", data, ...(unreadable !== undefined && { unreadable }) } as const;
  if (archivedAt === undefined) return [written];
  return [
    written,
    archivedAt === null ? { ...named, action: "unarchive" } : { ...named, action: "archive", archivedAt },
  ];
}
