import { ask, set, type Turn } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { dropPartial } from "./reading.ts";
import type { Scope } from "./rows.ts";

/** One text for one scope, in whatever order it is named; "" for everything. */
export function scopeKey({ models, groups }: Scope): string {
  if (!models && !groups) return "";
  return JSON.stringify([models && [...models].sort(), groups && [...groups].sort()]);
}

/** Other records are wanted. The rows are read anew; those that are there are shown until then. */
export function followed(turn: Turn, scope: Scope): void {
  if (scopeKey(scope) === scopeKey(turn.state.scope)) return;
  set(turn, { scope });
  checkScope(turn);
}

/** The rows may hold other records than are wanted. */
export function checkScope(turn: Turn): void {
  const { rows, reading, scope } = turn.state;
  const wanted = scopeKey(scope);
  if (reading.partial && (reading.partial.scope ?? "") !== wanted) dropPartial(turn);
  if (rows.position === undefined || (rows.scope ?? "") === wanted || reading.resync !== "no") return;
  set(turn, { reading: { ...turn.state.reading, resync: "anew" } });
}

export function heardScope(turn: Turn, event: Extract<ClientEvent, { type: "followed" }>): void {
  followed(turn, event.scope);
  ask(turn, { do: "post", message: { type: "scope", scope: event.scope } });
}
