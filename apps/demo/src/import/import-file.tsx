import { useSyncStatus } from "../sync.ts";
import { ImportOutcome } from "./import-progress.tsx";
import { useFileImport } from "./use-file-import.ts";

interface Props {
  readonly deckId: string | undefined;
  choose(deckId: string): void;
}

/** A Markdown file becomes a deck: chosen here, or dropped anywhere on the page. */
export function ImportFile({ deckId, choose }: Props) {
  const { says, isOver, take } = useFileImport(choose);
  const isOnline = useSyncStatus(({ name }) => name === "online");
  return (
    <section className="panel import" aria-labelledby="import-heading">
      <h2 id="import-heading">Import</h2>
      <p>Drop a Markdown file on this page, and an agent makes a deck of it, a slide for each heading.</p>
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
      </p>
      <p role="status" className="hint">
        {says}
      </p>
      {deckId && <ImportOutcome deckId={deckId} />}
      {isOver && (
        <div className="drop" aria-hidden="true">
          <p>Let go, and an agent makes a deck of it</p>
        </div>
      )}
    </section>
  );
}
