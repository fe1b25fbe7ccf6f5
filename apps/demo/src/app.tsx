import { useEffect } from "react";
import { AskAgent } from "./ask-agent.tsx";
import { AttentionList } from "./attention-list.tsx";
import { ConflictList } from "./conflict-list.tsx";
import { Deck } from "./deck.tsx";
import { DeckPicker } from "./deck-picker.tsx";
import { ImportProgress } from "./import-progress.tsx";
import { MirrorPanel } from "./mirror-panel.tsx";
import { NetworkSwitch } from "./network-switch.tsx";
import { NoDeck } from "./no-deck.tsx";
import { Peers } from "./peers.tsx";
import { SecondWindow } from "./second-window.tsx";
import { Source } from "./source.tsx";
import { useQuery, useRecord } from "./sync.ts";
import { SyncLine } from "./sync-line.tsx";
import { useDeckId } from "./use-deck-id.ts";

export function App({ person }: { person: string }) {
  const decks = useQuery("document", { orderBy: "title" });
  const [deckId, choose] = useDeckId(decks);
  const deck = useRecord("document", deckId ?? "skip");
  const title = deck?.title || "Holdfast";
  useEffect(() => {
    document.title = deck ? `${title} · Holdfast` : "Holdfast";
  }, [deck, title]);

  return (
    <>
      <header className="top">
        <span className="wordmark">Holdfast</span>
        {deckId && <Peers deckId={deckId} />}
        <SyncLine />
        <NetworkSwitch person={person} />
      </header>
      <main>
        <h1>{title}</h1>
        {deckId && <DeckPicker decks={decks} deckId={deckId} choose={choose} />}
        <div className="aside">
          <ConflictList deckId={deckId} />
          <AttentionList />
          {deckId && <ImportProgress deckId={deckId} />}
          <SecondWindow person={person} deckId={deckId} />
          {deckId && <AskAgent deckId={deckId} />}
          <MirrorPanel />
        </div>
        {deckId && <Deck key={deckId} deckId={deckId} />}
        {deck && <Source deck={deck} />}
        {!deckId && <NoDeck />}
      </main>
    </>
  );
}
