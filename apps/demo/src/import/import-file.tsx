import type { Deck } from "../schema.ts";
import { useSyncStatus } from "../sync.ts";
import { ImportOutcome } from "./import-progress.tsx";
import { nextCopy, sourceOf } from "./replay.ts";
import { useFileImport } from "./use-file-import.ts";

interface Props {
  readonly deck: Deck | undefined;
  readonly decks: readonly Deck[];
  choose(deckId: string): void;
}

/** A Markdown file becomes a deck: chosen here, or dropped anywhere on the page. */
export function ImportFile({ deck, decks, choose }: Props) {
  const { says, isOver, take } = useFileImport(choose);
  const source = deck && sourceOf(deck);
  const isOnline = useSyncStatus(({ name }) => name === "online");
  const replay = () => {
    if (source) take(new File([deck?.content ?? ""], source.name), nextCopy(source, decks));
  };
  return (
    <section className="panel import" aria-labelledby="import-heading">
      <h2 id="import-heading">Import</h2>
      <p>Drop a Markdown file on this page: an agent makes a slide of each heading.</p>
      <p className="choices">
        <label className="button">
          Choose a Markdown file
          <input
            type="file"
            className="unseen"
            accept=".md,.markdown,.txt,text/markdown,text/plain"
            disabled={!isOnline}
            onChange={({ target }) => {
              const [file] = target.files ?? [];
              if (file) take(file);
              // The same file chosen again is a choice too.
              target.value = "";
            }}
          />
        </label>
        {source && (
          <button type="button" disabled={!isOnline} onClick={replay}>
            Replay this import
          </button>
        )}
      </p>
      <p role="status" className="hint">
        {says}
      </p>
      {deck && <ImportOutcome deckId={deck.id} />}
      {isOver && (
        <div className="drop" aria-hidden="true">
          <p>Let go, and an agent makes a deck of it</p>
        </div>
      )}
    </section>
  );
}
