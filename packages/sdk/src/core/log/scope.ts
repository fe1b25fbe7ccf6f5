import { type Draft, emit, set } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { dropPartial } from "./reading.ts";
import type { Scope } from "./rows.ts";
import { isSameScope, scopeKey } from "./scope-key.ts";

/** The app wants other records. Read the rows again, and show the present ones until then. */
export function onFollowed(draft: Draft, scope: Scope): void {
  if (scopeKey(scope) === scopeKey(draft.state.scope)) return;
  set(draft, { scope });
  checkScope(draft);
}

/** Requests new rows if the present ones were read for another scope. */
export function checkScope(draft: Draft): void {
  const { rows, reading, scope } = draft.state;
  const wanted = scopeKey(scope);
  if (reading.partial && !isSameScope(reading.partial.scope, wanted)) dropPartial(draft);
  if (rows.position === undefined || isSameScope(rows.scope, wanted) || reading.resync !== "no") return;
  set(draft, { reading: { ...draft.state.reading, resync: "anew" } });
}

export function onScope(draft: Draft, event: Extract<ClientEvent, { type: "followed" }>): void {
  onFollowed(draft, event.scope);
  emit(draft, { do: "post", message: { type: "scope", scope: event.scope } });
}
