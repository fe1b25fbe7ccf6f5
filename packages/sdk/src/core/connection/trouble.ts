import { type Draft, set } from "../draft.ts";
import type { SessionState } from "../state.ts";

/** The last failure of any request, for people. Undefined: one has succeeded since. */
export const noteTrouble = (draft: Draft, trouble: string | undefined): void => set<SessionState>(draft, { trouble });
