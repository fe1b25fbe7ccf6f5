import { useEffect } from "react";
import { AttentionList } from "./attention-list.tsx";
import { ConflictList } from "./conflict-list.tsx";
import { Deck } from "./deck.tsx";
import { DeckPicker } from "./deck-picker.tsx";
import { ImportProgress } from "./import-progress.tsx";
import { NetworkSwitch } from "./network-switch.tsx";
import { SecondWindow } from "./second-window.tsx";
import { useQuery, useRecord, useSyncStatus } from "./sync.ts";
import { SyncLine } from "./sync-line.tsx";
import { useDeckId } from "./use-deck-id.ts";

export function App({ person }: { person: string }) {
  const decks = useQuery("document", { orderBy: "title" });
  const [deckId, choose] = useDeckId(decks);
  const deck = useRecord("document", deckId ?? "skip");
  const isStarting = useSyncStatus((status) => status.name === "starting");
  const title = deck?.title || "Holdfast";
  useEffect(() => {
    document.title = deck ? `${title} · Holdfast` : "Holdfast";
  }, [deck, title]);

  return (
    <>
      <header className="top">
        <span className="wordmark">Holdfast</span>
        <SyncLine />
        <NetworkSwitch person={person} />
      </header>
      <main>
        <h1>{title}</h1>
        {deckId && <DeckPicker decks={decks} deckId={deckId} choose={choose} />}
        <div className="aside">
          <ConflictList />
          <AttentionList />
          {deckId && <ImportProgress deckId={deckId} />}
          <SecondWindow person={person} deckId={deckId} />
        </div>
        {deckId && <Deck key={deckId} deckId={deckId} />}
        {!deckId && !isStarting && (
          <p className="empty">
            There is no deck yet. The agent makes one from any Markdown file:
            <code>npm run demo:import -- path/to/file.md</code>
          </p>
        )}
      </main>
    </>
  );
}
