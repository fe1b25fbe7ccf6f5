import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { AskAgent } from "./ask-agent.tsx";
import { Deck } from "./deck.tsx";
import { DeckPicker } from "./deck-picker.tsx";
import { ImportFile } from "./import/import-file.tsx";
import { NetworkSwitch } from "./line/network-switch.tsx";
import { MirrorPanel } from "./mirror-panel.tsx";
import { NoDeck } from "./no-deck.tsx";
import { Peers } from "./peers.tsx";
import { SecondWindow } from "./second-window.tsx";
import { Source } from "./source.tsx";
import { useQuery, useRecord } from "./sync.ts";
import { SyncLine } from "./sync-line.tsx";
import { Tray } from "./tray.tsx";
import { useDeckId } from "./use-deck-id.ts";

const Timeline = lazy(() => import("./timeline/timeline.tsx").then(({ Timeline }) => ({ default: Timeline })));

export function App({ person }: { person: string }) {
  const decks = useQuery("document", { orderBy: "title" });
  const [deckId, choose] = useDeckId(decks);
  const deck = useRecord("document", deckId ?? "skip");
  const [isLookingBack, setLookingBack] = useState(false);
  const lookBack = useCallback(() => setLookingBack(true), []);
  const comeBack = useCallback(() => setLookingBack(false), []);
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
          <SecondWindow person={person} deckId={deckId} />
          {deckId && <AskAgent deckId={deckId} />}
          <ImportFile deckId={deckId} choose={choose} />
          <MirrorPanel />
        </div>
        {deckId && !isLookingBack && <Deck key={deckId} deckId={deckId} lookBack={lookBack} />}
        {deckId && isLookingBack && (
          <Suspense fallback={<p className="deck empty">Opening…</p>}>
            <Timeline key={deckId} deckId={deckId} close={comeBack} />
          </Suspense>
        )}
        {deck && <Source deck={deck} />}
        {!deckId && <NoDeck />}
      </main>
      {!isLookingBack && <Tray deckId={deckId} />}
    </>
  );
}
