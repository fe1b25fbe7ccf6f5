import type { Conflict } from "@holdfast/sdk";
import { useState } from "react";
import { useWriterName } from "../people/people.ts";
import { useConflicts } from "../sync.ts";
import { ConflictDialog } from "./conflict-dialog.tsx";
import { conflictSentence } from "./conflict-words.ts";
import { useSlideName } from "./use-slide-name.ts";

/** Edits that met another person's: one line each, and the dialog that decides one of them. */
export function ConflictList({ deckId }: { deckId: string | undefined }) {
  const conflicts = useConflicts();
  const [openKey, setOpenKey] = useState<string>();
  const open = conflicts.find((conflict) => keyOf(conflict) === openKey);
  if (conflicts.length === 0) return null;
  return (
    <>
      <section className="panel urgent" aria-labelledby="conflicts-heading">
        <h2 id="conflicts-heading">Needs your decision</h2>
        <ul>
          {conflicts.map((conflict) => (
            <Line key={keyOf(conflict)} conflict={conflict} open={() => setOpenKey(keyOf(conflict))} />
          ))}
        </ul>
      </section>
      {open && <ConflictDialog key={openKey} conflict={open} deckId={deckId} close={() => setOpenKey(undefined)} />}
    </>
  );
}

// One held write may be about several records.
const keyOf = (conflict: Conflict) => `${conflict.clientTxId} ${conflict.model} ${conflict.id}`;

function Line({ conflict, open }: { conflict: Conflict; open(): void }) {
  const writer = useWriterName(conflict.writtenBy);
  const slide = useSlideName(conflict);
  return (
    <li>
      <p>{conflictSentence(conflict, writer, slide)}</p>
      <p className="choices">
        <button type="button" onClick={open}>
          Decide…
        </button>
      </p>
    </li>
  );
}
