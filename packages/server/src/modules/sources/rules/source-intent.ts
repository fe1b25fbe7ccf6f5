import { ownValue, type SourceOperation } from "@holdfast/sdk/protocol";
import { type CommitRequest, namesOf, touched, writerOf } from "../../../kernel/commits/rules/commit-request.ts";
import type { NewEntry, TenantState } from "../../../kernel/commits/rules/tenant-state.ts";

/**
 * A commit that was judged and may happen, while the service that has its records is asked. Until it is known what
 * became of it, nothing else writes its records.
 */
export interface SourceIntent {
  /** Also the commit's name at the source. */
  readonly id: string;
  /** The datasource. */
  readonly source: string;
  readonly commit: CommitRequest;
  readonly operations: readonly SourceOperation[];
  /** What it keeps for itself: see `reservedKeys`. */
  readonly keys: readonly string[];
  /** For its receipt: see CommitOutcome. */
  readonly missingIds: readonly string[];
  readonly madeId: string | undefined;
}

/** What a source has to write for a commit. */
export interface SourceWrites {
  readonly source: string;
  readonly operations: readonly SourceOperation[];
}

/**
 * What the entries of a judged commit mean for the sources of their models, one for each source. Whether a record is
 * archived, no source knows.
 */
export function sourceWrites({ models }: Pick<TenantState, "models">, entries: readonly NewEntry[]): SourceWrites[] {
  const bySource = new Map<string, SourceOperation[]>();
  for (const entry of entries) {
    const declared = models.get(entry.model);
    const source = declared?.model.source;
    const operation = source === undefined ? undefined : operationOf(entry, declared?.name ?? entry.model);
    if (source === undefined || !operation) continue;
    bySource.set(source, [...(bySource.get(source) ?? []), operation]);
  }
  return [...bySource].map(([source, operations]) => ({ source, operations }));
}

function operationOf({ verb, id, after, changedFields }: NewEntry, model: string): SourceOperation | undefined {
  switch (verb) {
    case "created": {
      const { id: _, ...data } = after?.data ?? {};
      return { action: "create", model, id, data };
    }
    case "updated":
      return {
        action: "update",
        model,
        id,
        data: Object.fromEntries((changedFields ?? []).map((field) => [field, ownValue(after?.data, field) ?? null])),
      };
    case "deleted":
    case "erased":
      return { action: "delete", model, id };
    default:
      return undefined;
  }
}

/** What an intent keeps for itself: its records, and the names of its receipt. No model has a space in its name. */
export const reservedKeys = (commit: CommitRequest): readonly string[] => [
  ...new Set([
    ...touched(commit),
    ...receiptKeys(commit),
    ...(commit.decides ? [`proposal ${commit.decides.id}`] : []),
  ]),
];

export const receiptKeys = (commit: CommitRequest): readonly string[] =>
  namesOf(commit).map((name) => `receipt ${writerOf(commit).writtenBy} ${name}`);
