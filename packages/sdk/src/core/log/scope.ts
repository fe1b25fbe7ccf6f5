import { type Draft, emit, set } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { queueNumbersOf } from "../queue/shared-queue.ts";
import type { ClientState, ReplicaState } from "../state.ts";
import { isFollower } from "../tabs/is-follower.ts";
import type { ScopeMessage } from "../tabs/tab-message.ts";
import { withLoaded } from "./loaded-parts.ts";
import { differInParts, hasParts, isSameScope, missingParts } from "./parts.ts";
import { dropPartial } from "./reading.ts";
import { changeReading } from "./reading-state.ts";
import type { Scope } from "./rows.ts";

/** Other records are wanted, here or in another tab. Read the rows again, and show the present ones until then. */
export function onScope(draft: Draft, scope: Scope, followed = draft.state.followed): void {
  set<ReplicaState>(draft, { followed });
  if (isSameScope(scope, draft.state.scope)) return;
  set<ReplicaState>(draft, { scope });
  checkScope(draft);
}

/** The rows of the store, or the pages of an unfinished first snapshot, which are shown while the rest is read. */
export function restoreRows(draft: Draft, { rows, partial }: Extract<ClientEvent, { type: "restored" }>): void {
  set<ReplicaState>(draft, { rows: partial ? { ...rows, tables: partial.tables } : rows });
  if (partial) changeReading(draft, { partial: { ...partial, isKept: true } });
  set<ReplicaState>(draft, { scope: withLoaded(draft.state.scope, (partial ?? rows).scope ?? {}) });
}

/** Requests new rows if the present ones were read for another scope, or the parts that they lack. */
export function checkScope(draft: Draft): void {
  const { rows, reading, scope } = draft.state;
  if (rows.position !== undefined && (reading.resync === "no" || reading.resync === "parts")) {
    const { scope: have = {} } = rows;
    const resync = isSameScope(have, scope) ? "no" : differInParts(have, scope) ? "parts" : "anew";
    if (resync !== reading.resync) changeReading(draft, { resync });
  }
  const { added } = draft.state.reading;
  if (added && (draft.state.reading.resync !== "parts" || !isWanted(draft.state, added.scope)))
    changeReading(draft, { added: undefined });
  if (reading.partial && !isWanted(draft.state, reading.partial.scope ?? {})) dropPartial(draft);
}

/**
 * Whether a read of this scope brings rows that are wanted now: some missing parts, or else all rows, except perhaps
 * parts that are wanted since.
 */
export const isWanted = ({ reading, scope }: ClientState, read: Scope): boolean =>
  reading.resync === "parts" ? hasParts(scope, read) : differInParts(read, scope) && !missingParts(scope, read);

/** The app has called `follow`. What it follows from now on, the other tabs follow too. */
export function onFollowed(draft: Draft, scope: Scope, followed: Scope): void {
  onScope(draft, scope, followed);
  emit(draft, { do: "post", message: { type: "scope", scope, followed } });
}

/** A `load` has added parts, and perhaps dropped others. */
export function onPartsWanted(draft: Draft, scope: Scope): void {
  onScope(draft, scope);
  emit(draft, { do: "post", message: { type: "scope", scope, isLoad: true } });
}

/** Another tab has done one of these. What its `load` has dropped of that which this tab follows is added again. */
export function onOtherScope(draft: Draft, { scope, followed, isLoad }: Omit<ScopeMessage, "type">): void {
  onScope(draft, scope, followed);
  const whole = isLoad ? withLoaded(scope, draft.state.followed) : scope;
  if (!isSameScope(whole, scope)) onPartsWanted(draft, whole);
  // The leader may have heard of several in another order. It answers with its scope, which is the one of all tabs.
  if (isFollower(draft.state)) emit(draft, { do: "post", message: { type: "joined", ...queueNumbersOf(draft.state) } });
}
