import type { OpenConflict } from "../../core/conflicts/conflict.ts";
import { selectConflicts, selectRejected } from "../../core/conflicts/select-conflicts.ts";
import { recordKey, tableOf } from "../../core/log/tables.ts";
import type { ClientState } from "../../core/state.ts";
import { SyncError } from "../../errors.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";
import { jsonEqual } from "../../protocol/json-equal.ts";
import { same } from "../same.ts";
import type { AttentionItem, Conflict } from "../sync-client.ts";
import { editedOperations, makeDecision } from "./make-decision.ts";
import { objectCopy } from "./payload.ts";
import type { WriteDeps } from "./write.ts";

export interface DecisionItems {
  /** Called after every step, before the app's listeners. */
  note(state: ClientState): void;
  conflicts(state: ClientState): readonly Conflict[];
  attention(state: ClientState): readonly AttentionItem[];
}

/**
 * Conflicts and rejected writes as objects with methods. Each object stays the same until its content changes.
 * Conflicts are recomputed only if one of their records or writes has changed.
 */
export function decisionItems(deps: WriteDeps): DecisionItems {
  let known: ReadonlyMap<string, { readonly open: OpenConflict; readonly conflict: Conflict }> = new Map();
  let conflicts: readonly Conflict[] = [];
  /** The records of the conflicts and the waiting writes at the last computation. Undefined: stale. */
  let basis: { readonly records: ReadonlySet<string>; readonly waiting: readonly string[] } | undefined;
  const items = new WeakMap<object, AttentionItem>();
  let attention: readonly AttentionItem[] = [];

  function isStale(state: ClientState): boolean {
    if (!basis || basis.waiting !== state.queue.waiting || state.touched === "everything") return true;
    const position = state.rows.position ?? 0;
    for (const { open } of known.values()) if (!open.seen && position >= open.heldAtSyncId) return true;
    return state.touched.some((key) => basis?.records.has(key));
  }

  return {
    note(state) {
      if (basis && isStale(state)) basis = undefined;
    },
    conflicts(state) {
      if (basis) return conflicts;
      let [write, nth] = ["", 0];
      const now = selectConflicts(state).map((open) => {
        // A write has one conflict per notification, in a fixed order.
        nth = open.clientTxId === write ? nth + 1 : 0;
        write = open.clientTxId;
        const key = `${write} ${nth}`;
        const before = known.get(key);
        const isSame = before !== undefined && jsonEqual(asJson(before.open), asJson(open));
        const conflict = isSame ? before.conflict : conflictOf(deps, open, state.rows.position ?? 0);
        return [key, { open, conflict }] as const;
      });
      known = new Map(now);
      basis = { records: new Set(now.map(([, { open }]) => recordKey(open))), waiting: state.queue.waiting };
      conflicts = same(
        conflicts,
        now.map(([, { conflict }]) => conflict),
      );
      return conflicts;
    },
    attention(state) {
      const next = selectRejected(state).map((rejected) => {
        // The stage object stays the same from the refusal to the decision, whatever else changes in the write.
        const item = items.get(rejected.stage) ?? attentionOf(deps, rejected);
        items.set(rejected.stage, item);
        return item;
      });
      attention = same(attention, next);
      return attention;
    },
  };
}

function conflictOf(deps: WriteDeps, open: OpenConflict, position: number): Conflict {
  const { clientTxId, model, id, action, fields, mine, base, theirs, writtenBy, observedSyncId } = open;
  const { code: reason = "stale", holders = [] } = open.claim ?? {};
  const asOf = Math.max(position, observedSyncId);
  return {
    clientTxId,
    reason,
    holders,
    model,
    id,
    action,
    fields,
    mine,
    base,
    theirs,
    writtenBy,
    observedSyncId,
    keepMine: () => makeDecision(deps, clientTxId, id, { kind: "keep-mine", asOf }),
    takeTheirs: () => void makeDecision(deps, clientTxId, id, { kind: "take-theirs", asOf }),
    merge(given: JsonObject) {
      const patch = objectCopy(given, "patch");
      const declared = deps.engine.store.getState().models[tableOf(model)]?.fields ?? {};
      // A field in conflict that this schema does not have was written by a newer version of the app: the server judges it.
      const judged = Object.entries(patch).filter(
        ([field]) => Object.hasOwn(declared, field) || !fields.includes(field),
      );
      if (judged.length > 0)
        editedOperations(deps, [{ action: "update", model, id, data: Object.fromEntries(judged) }]);
      return makeDecision(deps, clientTxId, id, { kind: "merge", asOf, model, id, patch });
    },
  };
}

function attentionOf(deps: WriteDeps, rejected: ReturnType<typeof selectRejected>[number]): AttentionItem {
  const { clientTxId, operations, createdAt } = rejected;
  const { failure } = rejected.stage;
  return {
    clientTxId,
    code: failure.code,
    error: new SyncError(failure),
    operations,
    createdAt,
    retry: () => makeDecision(deps, clientTxId, operations[0]?.id ?? "", { kind: "retry" }),
    edit: (edited) => {
      const decision = { kind: "edit", operations: editedOperations(deps, edited) } as const;
      return makeDecision(deps, clientTxId, edited[0]?.id ?? "", decision);
    },
    discard: () => void makeDecision(deps, clientTxId, "", { kind: "discard" }),
  };
}

const asJson = (open: OpenConflict) => open as unknown as { readonly [key: string]: Json };
