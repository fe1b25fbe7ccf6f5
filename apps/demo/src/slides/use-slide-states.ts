import { useConflicts, usePending, useSyncStatus } from "../sync.ts";
import { slideStates } from "./slide-state.ts";

/** What each card says about its unsaved edits, asked once for all: two hundred cards that ask are felt with every key. */
export function useSlideStates(): ReadonlyMap<string, string> {
  const connection = useSyncStatus((status) => status.name);
  const conflicts = useConflicts();
  return usePending((pending) => slideStates(pending, conflicts, connection), sameEntries);
}

const sameEntries = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean =>
  a.size === b.size && [...a].every(([id, state]) => b.get(id) === state);
