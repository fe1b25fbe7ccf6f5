import type { ClientState } from "../state.ts";
import { missingParts } from "./parts.ts";
import type { Scope } from "./rows.ts";
import { scopeKey, scopeOf } from "./scope-key.ts";

type Known = Pick<ClientState, "reading" | "rows" | "scope">;

/** The parts that the rows lack: those whose read was begun, or all of them. Undefined: none has to be read. */
export function partsToRead({ reading, rows, scope }: Known): Scope | undefined {
  if (reading.resync !== "parts") return undefined;
  const begun = reading.added ?? reading.partial;
  return begun ? scopeOf(begun.scope) : missingParts(scopeOf(rows.scope), scope);
}

/** What to read next: the rest of what was begun, the missing parts, or everything. */
export function scopeToRead(state: Known): Scope {
  const { reading, scope } = state;
  // The server continues a read only of a scope that is spelled alike.
  return reading.partial ? scopeOf(reading.partial.scope) : scopeOf(scopeKey(partsToRead(state) ?? scope));
}
