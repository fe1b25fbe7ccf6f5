import { ConflictList } from "../conflicts/conflict-list.tsx";
import { ImportProgress } from "../import/import-progress.tsx";
import { AttentionList } from "./attention-list.tsx";
import { WaitingList } from "./waiting-list.tsx";

/** What wants somebody, and what is under way: over the page and not in it, so that nothing moves when it comes. */
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
