import type { ReactNode } from "react";
import { ConflictList } from "../conflicts/conflict-list.tsx";
import { ImportProgress } from "../import/import-progress.tsx";
import { AttentionList } from "./attention-list.tsx";
import { WaitingList } from "./waiting-list.tsx";

/** Decisions, pending writes and jobs. It lies over the page, so that nothing moves when it appears. */
export function Tray({ deckId, children }: { deckId: string | undefined; children: ReactNode }) {
  return (
    <div className="tray">
      <ConflictList deckId={deckId} />
      <AttentionList />
      <WaitingList />
      {children}
      {deckId && <ImportProgress deckId={deckId} />}
    </div>
  );
}
