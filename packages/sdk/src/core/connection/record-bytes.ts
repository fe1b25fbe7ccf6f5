import { type Draft, emit, set } from "../draft.ts";
import type { TokenFacts } from "../events.ts";
import type { SessionState } from "../state.ts";

/** As the server has said it, here or in the tab that leads. */
export const noteRecordBytes = (draft: Draft, recordBytes: number | undefined): void =>
  set<SessionState>(draft, { recordBytes });

/** The server has said how large a record can be. The disk knows it too, for a start without a network. */
export function onRecordBytes(draft: Draft, { recordBytes }: Pick<TokenFacts, "recordBytes">): void {
  if (recordBytes === draft.state.recordBytes) return;
  noteRecordBytes(draft, recordBytes);
  emit(draft, { do: "keepRecordBytes", recordBytes });
}
