import type { Premise } from "../../core/queue/mutation.ts";
import type { ModelSchema } from "../../protocol/schema/model-schema.ts";
import type { CommitOperation, CommitOptions } from "../sync-client.ts";
import { makeWrite, type WriteDeps } from "./write.ts";
import type { UndoableWrite } from "./write-api.ts";

/** Commits several operations together or not at all, provided that their premises have not changed. */
export function makeCommit<S extends ModelSchema>(
  deps: WriteDeps,
  operations: readonly CommitOperation<S>[],
  { reads = [], ...options }: CommitOptions<S> = {},
): UndoableWrite {
  const premises = reads.map((read): Premise => ({ ...read, onStale: read?.onStale ?? options.onStale ?? "notify" }));
  return makeWrite(deps, operations, options, premises);
}
