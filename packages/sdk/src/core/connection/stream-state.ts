import { type Draft, set } from "../draft.ts";
import type { SessionState, StreamLink } from "../state.ts";

export function changeStream(draft: Draft, change: Partial<StreamLink>): void {
  set<SessionState>(draft, { stream: { ...draft.state.stream, ...change } });
}
