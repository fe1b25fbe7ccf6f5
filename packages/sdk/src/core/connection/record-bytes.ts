import { type Draft, emit, set } from "../draft.ts";
import type { TokenFacts } from "../events.ts";

/** The server has said how large a record can be. The disk knows it too, for a start without a network. */
export function onRecordBytes(draft: Draft, { recordBytes }: Pick<TokenFacts, "recordBytes">): void {
  if (recordBytes === draft.state.recordBytes) return;
  set(draft, { recordBytes });
  emit(draft, { do: "keepRecordBytes", recordBytes });
}
