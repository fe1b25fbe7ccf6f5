import type { CommitRequest } from "../../../kernel/commits/rules/commit-request.ts";
import type { Decision, RoundModule, TenantState } from "../../../kernel/commits/rules/tenant-state.ts";
import type { AttachedTable } from "./attached-table.ts";
import { checkAttached } from "./check-attached.ts";

/** The attached tables of a tenant, and what they say of the round's commits. */
export interface TenantTables {
  /** By model. */
  readonly attached: ReadonlyMap<string, AttachedTable>;
  /** By `recordKey`: the rows that other transactions have locked. */
  readonly locked: ReadonlySet<string>;
  /** What becomes of a decision: see table-round.ts. "later": a later round judges the commit. */
  settle(state: TenantState, commit: CommitRequest, decision: Decision): Decision | "later";
}

/** The name of the module. */
export const TABLES = "tables";

/** In a round that writes attached tables. */
export const tablesRound = (tables: TenantTables): RoundModule => ({
  check(operation, declaredName) {
    const table = tables.attached.get(operation.model);
    return table && checkAttached(operation, declaredName, table);
  },
  settle: tables.settle,
  isLocked: (key) => tables.locked.has(key),
  // A table adds its own defaults.
  fillsRecords: (model) => tables.attached.has(model),
});
