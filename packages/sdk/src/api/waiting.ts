import type { Dispute } from "../core/dispute.ts";
import { jsonEqual } from "../core/json-equal.ts";
import { conflictsOf, parkedOf } from "../core/select.ts";
import type { ClientState } from "../core/state.ts";
import { SyncError } from "../errors.ts";
import type { Json, JsonObject } from "../protocol/json.ts";
import { jsonCopy } from "./payload.ts";
import { same } from "./same.ts";
import type { AttentionItem, Conflict } from "./sync-client.ts";
import { type Desk, editedOperations, makeDecision } from "./write.ts";

/** What waits for a person, as objects that can be answered. As long as nothing in one changes, it stays the same object. */
export function waitingFor(desk: Desk): {
  conflicts(state: ClientState): readonly Conflict[];
  attention(state: ClientState): readonly AttentionItem[];
} {
  let disputes: readonly Dispute[] = [];
  let conflicts: readonly Conflict[] = [];
  const items = new WeakMap<object, AttentionItem>();
  let attention: readonly AttentionItem[] = [];

  return {
    conflicts(state) {
      const now = conflictsOf(state);
      const next = now.map((dispute) => {
        const at = disputes.findIndex((d) => jsonEqual(asJson(d), asJson(dispute)));
        return conflicts[at] ?? conflictOf(desk, dispute, state.rows.position ?? 0);
      });
      disputes = now;
      conflicts = same(conflicts, next);
      return conflicts;
    },
    attention(state) {
      const next = parkedOf(state).map((parked) => {
        // The stage is the same object from the refusal to the answer, whatever else becomes known of the write.
        const item = items.get(parked.stage) ?? attentionOf(desk, parked);
        items.set(parked.stage, item);
        return item;
      });
      attention = same(attention, next);
      return attention;
    },
  };
}

function conflictOf(desk: Desk, dispute: Dispute, position: number): Conflict {
  const { clientTxId, model, id, action, fields, mine, base, theirs, writtenBy, observedSyncId } = dispute;
  const { code: reason = "stale", holders = [] } = dispute.claim ?? {};
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
    keepMine: () => makeDecision(desk, clientTxId, id, { kind: "keep-mine", asOf }),
    takeTheirs: () => void makeDecision(desk, clientTxId, id, { kind: "take-theirs", asOf }),
    merge: (patch: JsonObject) =>
      makeDecision(desk, clientTxId, id, { kind: "merge", asOf, model, id, patch: jsonCopy(patch, "patch") }),
  };
}

function attentionOf(desk: Desk, parked: ReturnType<typeof parkedOf>[number]): AttentionItem {
  const { clientTxId, operations, createdAt } = parked;
  const { failure } = parked.stage;
  return {
    clientTxId,
    code: failure.code,
    error: new SyncError(failure),
    operations,
    createdAt,
    retry: () => makeDecision(desk, clientTxId, operations[0]?.id ?? "", { kind: "retry" }),
    edit: (edited) => {
      const decision = { kind: "edit", operations: editedOperations(desk, edited) } as const;
      return makeDecision(desk, clientTxId, edited[0]?.id ?? "", decision);
    },
    discard: () => void makeDecision(desk, clientTxId, "", { kind: "discard" }),
  };
}

const asJson = (dispute: Dispute) => dispute as unknown as { readonly [key: string]: Json };
