import { jsonEqual } from "@holdfast/sdk/protocol";
import { type CommitRequest, recordKey, touched } from "../../../kernel/commits/rules/commit-request.ts";
import type { Judged } from "../../../kernel/commits/rules/judge-commits.ts";
import type { RecordChange } from "../../../kernel/commits/rules/record-change.ts";
import { confirmedAsLeft } from "../../../kernel/commits/rules/written-commit.ts";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import { type CapturedChange, changesOf as recordsOf } from "./captured-changes.ts";
import { readRowImage } from "./row-image.ts";
import { type RowWrite, rowWrites } from "./row-writes.ts";
import { type TableRefusal, tableRefusal } from "./table-refusal.ts";
import type { TenantTables } from "./tenant-tables.ts";

/** Which commits of a round may be written. */
export interface Plan {
  /** Only so many, the first ones. */
  readonly most: number;
  /** Those whose writes cannot be recorded. */
  readonly denied: ReadonlyMap<CommitRequest, Refusal>;
}

/** Settles what the round would write. */
export function planWrites(order: readonly CommitRequest[], { most, denied }: Plan): TenantTables["settle"] {
  const later = new Set(order.slice(most));
  return (_state, commit, decision) => {
    if (later.has(commit)) return "later";
    const refusal = decision.kind === "confirmed" ? denied.get(commit) : undefined;
    return refusal ? { kind: "refused", refusal } : decision;
  };
}

/** The row writes of the confirmed commits that have some. */
export const writtenByCommit = (
  judged: readonly Judged[],
  attached: TenantTables["attached"],
): Map<CommitRequest, readonly RowWrite[]> =>
  new Map(
    judged.flatMap(({ commit, decision }): [CommitRequest, readonly RowWrite[]][] => {
      const writes = decision.kind === "confirmed" ? rowWrites(commit, decision.entries, attached) : [];
      return writes.length === 0 ? [] : [[commit, writes]];
    }),
  );

/** What was written, and what the tables said. */
export interface Written {
  /** All commits of the round, in order. */
  readonly order: readonly CommitRequest[];
  readonly writes: ReadonlyMap<CommitRequest, readonly RowWrite[]>;
  /** One for each commit in `writes`, or for the first ones: then the others were not written. */
  readonly results: readonly (TableRefusal & { readonly done: boolean; readonly upTo: number | null })[];
  /** What the writes changed in attached tables, in order. */
  readonly changes: readonly (CapturedChange & { readonly seq: number })[];
  readonly tables: TenantTables;
}

export type Settlement =
  | {
      readonly kind: "written";
      /** These commits wait for a lock. By `recordKey`: what they write. */
      readonly locked: readonly string[];
      /** What changed besides the rows that commits name. */
      readonly besides: readonly RecordChange[];
      /** Settles the decisions of the second judgement. */
      readonly settle: TenantTables["settle"];
      /** How many commits come before the first one that was written but is not confirmed now, if there is one. */
      undone(judged: readonly Judged[]): number | undefined;
    }
  /** These commits did something that cannot be recorded. */
  | { readonly kind: "denied"; readonly denied: ReadonlyMap<CommitRequest, Refusal> };

export function settleWrites({ order, writes, results, changes, tables }: Written): Settlement {
  const denied = new Map<CommitRequest, Refusal>();
  const refused = new Map<CommitRequest, Refusal>();
  const changesOf = new Map<CommitRequest, readonly RecordChange[]>();
  const locked: string[] = [];
  const tried = new Map([...writes].slice(0, results.length));
  const captured = changesByResult(results, [...tried.values()], changes, tables);
  for (const [i, [commit, own]] of [...tried].entries()) {
    const result = results[i] as Written["results"][number];
    const found = recordChanges(captured[i] ?? [], tables);
    if (!result.done && WAITS.has(result.sqlstate)) locked.push(...touched(commit));
    else if (!result.done) refused.set(commit, tableRefusal(commit, own, result));
    else if ("code" in found) denied.set(commit, found);
    else changesOf.set(commit, found.changes);
  }
  if (denied.size > 0) return { kind: "denied", denied };
  return {
    kind: "written",
    locked,
    besides: [...changesOf].flatMap(([commit, made]) =>
      made.filter((change) => !names(writes.get(commit) ?? [], change)),
    ),
    settle(state, commit, decision) {
      if (decision.kind !== "confirmed") return decision;
      const wanted = rowWrites(commit, decision.entries, tables.attached);
      if (!areSame(wanted, tried.get(commit) ?? [])) return "later";
      const refusal = refused.get(commit);
      if (refusal) return { kind: "refused", refusal };
      const made = changesOf.get(commit);
      if (!made) return decision;
      const { missingIds = [], id: madeId } = decision.receipt;
      return confirmedAsLeft(state, commit, made, { missingIds, madeId });
    },
    undone(judged) {
      const confirmed = new Set(
        judged.flatMap(({ commit, decision }) => (decision.kind === "confirmed" ? commit : [])),
      );
      const first = order.findIndex((commit) => changesOf.has(commit) && !confirmed.has(commit));
      return first < 0 ? undefined : first;
    },
  };
}

/**
 * A lock that another transaction holds, a deadlock with it, a conflict of isolation, or a table that has just been changed:
 * a later round tries again.
 */
const WAITS: ReadonlySet<string> = new Set(["55P03", "40P01", "40001", "HF003"]);

/** Whether the values of a changed record were loaded for the writes: those of a deleted one are not. */
const names = (writes: readonly RowWrite[], { model, id, data }: RecordChange): boolean =>
  writes.some(
    ({ table, id: of, action }) => table.model === model && of === id && (action !== "delete" || data === null),
  );

/** The captured changes of each commit. */
function changesByResult(
  results: Written["results"],
  writes: readonly (readonly RowWrite[])[],
  changes: Written["changes"],
  { attached }: TenantTables,
): Written["changes"][] {
  if (results.every(({ upTo }) => upTo === null)) {
    const byRow = new Map(
      changes.map((change) => {
        const table = attached.get(change.model);
        const row = change.after ?? change.before;
        const id = row && table ? readRowImage(row, table).id : undefined;
        return [recordKey(change.model, id ?? ""), change];
      }),
    );
    return writes.map((own) => own.flatMap(({ table, id }) => byRow.get(recordKey(table.model, id)) ?? []));
  }
  return results.map(({ upTo }, i) =>
    changes.filter(({ seq }) => seq > (results[i - 1]?.upTo ?? 0) && seq <= (upTo ?? 0)),
  );
}

const areSame = (a: readonly RowWrite[], b: readonly RowWrite[]): boolean =>
  a.length === b.length &&
  a.every((one, i) => {
    const other = b[i];
    const isOfOneRow = one.action === other?.action && one.id === other.id && one.table.model === other.table.model;
    return isOfOneRow && jsonEqual(one.values, other.values);
  });

/** The last state of each record that a commit changed. */
function recordChanges(
  changes: readonly CapturedChange[],
  { attached }: TenantTables,
): { readonly changes: readonly RecordChange[] } | Refusal {
  const made = recordsOf(changes, [...attached.values()]);
  if ("problem" in made) return refuse("source_changed", { message: made.problem });
  return { changes: made.flatMap((one) => one.changes) };
}
