import { localError } from "../../errors.ts";
import type { ModelSchema } from "../../protocol/schema/model-schema.ts";
import type { CommitOptions, Transaction } from "../sync-client.ts";
import { makeCommit } from "./make-commit.ts";
import type { WriteDeps } from "./write.ts";
import type { OperationRequest, UndoableWrite } from "./write-api.ts";

/** Commits everything that the function does, together or not at all. If it throws, nothing is written. */
export function transact<S extends ModelSchema>(
  deps: WriteDeps,
  schema: S,
  build: (transaction: Transaction<S>) => void,
  options?: CommitOptions<S>,
): UndoableWrite {
  let operations: OperationRequest[] | undefined = [];
  const add = (operation: OperationRequest) => {
    if (!operations)
      throw localError(
        "invalid_options",
        "The function that was passed to transact() has already returned, so it cannot write any more. It must not be async.",
      );
    operations.push(operation);
  };
  const modelOf = (model: string) => {
    const act = (action: "delete" | "archive" | "unarchive") => (id: string) => add({ action, model, id });
    return {
      create: (data: { id?: string }, { id = data.id ?? deps.random.id() } = {}) => {
        add({ action: "create", model, id, data });
        return id;
      },
      update: (id: string, data: object) => add({ action: "update", model, id, data }),
      delete: act("delete"),
      archive: act("archive"),
      unarchive: act("unarchive"),
    };
  };
  const names = Object.keys(schema.models);
  build(Object.fromEntries(names.map((name) => [name, modelOf(name)])) as unknown as Transaction<S>);
  const made = operations;
  operations = undefined;
  return makeCommit(deps, made as never, options);
}
