import type { ClientState } from "../state.ts";
import { firstParts } from "./loaded-parts.ts";
import { missingParts } from "./parts.ts";
import type { Scope } from "./rows.ts";
import { asSpelled } from "./scope-key.ts";

type Known = Pick<ClientState, "reading" | "rows" | "scope">;

/** The parts that the rows lack: those whose read was begun, or all of them. Undefined: none has to be read. */
export function partsToRead({ reading, rows, scope }: Known): Scope | undefined {
  if (reading.resync !== "parts") return undefined;
  const begun = reading.added ?? reading.partial;
  if (begun) return begun.scope;
  const missing = missingParts(rows.scope ?? {}, scope);
  return missing && onlyParts(firstParts(missing));
}

/** What to read next: the rest of what was begun, the missing parts, or everything. */
export function scopeToRead(state: Known): Scope {
  const { reading, scope } = state;
  return reading.partial ? (reading.partial.scope ?? {}) : asSpelled(partsToRead(state) ?? firstParts(scope));
}

/** Without the models of which it has no parts. */
function onlyParts(scope: Scope): Scope {
  const where = Object.fromEntries(
    Object.entries(scope.where ?? {}).filter(([, parts]) => !Array.isArray(parts) || parts.length > 0),
  );
  return { ...scope, models: Object.keys(where), where };
}
