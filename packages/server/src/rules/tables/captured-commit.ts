import type { CommitOperation, CommitRequest } from "../commits/commit-request.ts";
import { nameOf } from "../tokens/participant.ts";
import type { RecordChange } from "./captured-changes.ts";

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
      home: null,
      tokenId: "",
      tokenKind: "secret_key",
      expiresAt: null,
      scope: undefined,
    },
    endpoint: "commit",
    single: false,
    operations: changes.map(changeOf),
    reads: [],
    clientId: null,
    logId: undefined,
    idempotencyKey: undefined,
    clientTxId: name,
    serverTxId: name,
    fingerprint: "",
  };
}

/** An operation that has the effect of a change. */
export const changeOf = ({ model, id, data }: RecordChange): CommitOperation => ({
  action: data ? "update" : "delete",
  model,
  id,
  ...(data && { data }),
  happened: true,
});
