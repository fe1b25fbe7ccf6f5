import type { News } from "./effects.ts";
import { knownFailure } from "./queue/known-failure.ts";
import type { Mutation } from "./queue/mutation.ts";
import { missingRecordFailure } from "./queue/settle.ts";

/** What to notify the caller of a write of. Undefined: its outcome is still open. */
export function newsOf(m: Mutation): News | undefined {
  const { stage } = m;
  switch (stage.phase) {
    case "confirmed": {
      const failure = missingRecordFailure(m, stage.receipt);
      return failure ? { kind: "failed", failure } : { kind: "confirmed", receipt: stage.receipt };
    }
    case "conflicted": {
      const failure = knownFailure(
        stage.claim?.code ?? "stale_context",
        "The write is in conflict: someone else changed the same field, or has claimed it. See conflicts().",
      );
      return { kind: "failed", failure };
    }
    case "rejected":
      return { kind: "failed", failure: stage.failure };
    default:
      return undefined;
  }
}
