import { ConflictList } from "../conflicts/conflict-list.tsx";
import { ImportProgress } from "../import/import-progress.tsx";
import { AttentionList } from "./attention-list.tsx";
import { WaitingList } from "./waiting-list.tsx";

/** What waits for a decision, and what is under way. It lies over the page, so that nothing moves when it appears. */
export function Tray({ deckId }: { deckId: string | undefined }) {
  return (
    <div className="tray">
      <ConflictList deckId={deckId} />
      <AttentionList />
      <WaitingList />
      {deckId && <ImportProgress deckId={deckId} />}
    </div>
  );
}
