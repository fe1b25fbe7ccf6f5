import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { AskAgent, type Proofreading } from "./agent/ask-agent.tsx";
import { NetworkSwitch } from "./connection/network-switch.tsx";
import { SyncLine } from "./connection/sync-line.tsx";
import { Deck } from "./deck/deck.tsx";
import { DeckPicker } from "./deck/deck-picker.tsx";
import { NoDeck } from "./deck/no-deck.tsx";
import { Source } from "./deck/source.tsx";
import { useDeckId } from "./deck/use-deck-id.ts";
import { ImportFile } from "./import/import-file.tsx";
import { MirrorPanel } from "./mirror/mirror-panel.tsx";
import { Peers } from "./people/peers.tsx";
import { useQuery, useRecord } from "./sync.ts";
import { Tray } from "./tray/tray.tsx";
import { SecondWindow } from "./windows/second-window.tsx";

const Timeline = lazy(() => import("./timeline/timeline.tsx").then(({ Timeline }) => ({ default: Timeline })));

export function App({ person }: { person: string }) {
  const decks = useQuery("document", { orderBy: "title" });
  const [deckId, choose] = useDeckId(decks);
  const deck = useRecord("document", deckId ?? "skip");
  const [isLookingBack, setLookingBack] = useState(false);
  const lookBack = useCallback(() => setLookingBack(true), []);
  const comeBack = useCallback(() => setLookingBack(false), []);
  const [proofreading, setProofreading] = useState<Proofreading>();
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
          {deckId && <AskAgent deckId={deckId} onStart={setProofreading} />}
          <ImportFile deck={deck} decks={decks} choose={choose} />
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
      {!isLookingBack && (
        <Tray deckId={deckId}>
          {proofreading && <proofreading.Panel run={proofreading.run} close={() => setProofreading(undefined)} />}
        </Tray>
      )}
    </>
  );
}
