import { Type } from "typebox";
import type { EndpointSchema } from "../endpoint-schema.ts";
import type { EndpointName } from "../paths.ts";
import { BulkBody, BulkReply, CommitBody, CommitReceipt } from "./commit.ts";

/** Commits of several operations. */
export const commitEndpoints = {
  commit: {
    summary: "Commit several operations atomically",
    audience: "token",
    body: CommitBody,
    batchBody: true,
    reply: { 200: CommitReceipt },
    errors: [
      "too_many_operations",
      "commit_too_large",
      "already_exists",
      "id_mismatch",
      "empty_update",
      "invalid_sync_group",
      "proposal_not_found",
      "proposal_ended",
      "own_proposal",
      "not_proposed",
    ],
  },
  commitBulk: {
    summary: "Send several commits, each atomic by itself",
    audience: "token",
    body: BulkBody,
    batchBody: true,
    reply: { 200: BulkReply },
    errors: ["too_many_operations"],
  },
  readCommit: {
    summary: "Read a commit's receipt again",
    audience: "token",
    query: {
      participant: {
        description: "`<kind>:<id>` of the writer, for secret keys; absent: the caller.",
        schema: Type.String({ pattern: "^(user|agent|system):[^\\s]{1,255}$" }),
      },
    },
    reply: { 200: CommitReceipt },
    errors: ["commit_not_found", "secret_key_required"],
  },
} as const satisfies Partial<Record<EndpointName, EndpointSchema>>;
