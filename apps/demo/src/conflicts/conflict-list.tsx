import type { Conflict } from "@holdfast/sdk";
import { useEffect, useState } from "react";
import { useWriterName } from "../people/people.ts";
import { useConflicts } from "../sync.ts";
import type { ConflictDialog } from "./conflict-dialog.tsx";
import { conflictSentence } from "./conflict-words.ts";
import { slideToDecide } from "./decision-link.tsx";
import { useSlideName } from "./use-slide-name.ts";

/** Edits that conflict with another person's: one row each, and the dialog that decides one of them. */
export function ConflictList({ deckId }: { deckId: string | undefined }) {
  const conflicts = useConflicts();
  const [openKey, setOpenKey] = useState<string>();
  const [dialog, setDialog] = useState<{ readonly ConflictDialog: typeof ConflictDialog }>();
  const open = conflicts.find((conflict) => keyOf(conflict) === openKey);
  const hasConflicts = conflicts.length > 0;
  useEffect(() => {
    // Loaded when there is something to decide, and not at the click: by then the network may be gone again.
    if (hasConflicts) void import("./conflict-dialog.tsx").then(setDialog, () => {});
  }, [hasConflicts]);
  useEffect(() => {
    const follow = () => {
      const slide = slideToDecide(location.hash);
      const asked = conflicts.find(({ id }) => slide === "" || id === slide);
      if (slide === undefined || !asked) return;
      // The next link to the same slide is a change of the address again.
      history.replaceState(null, "", location.pathname + location.search);
      setOpenKey(keyOf(asked));
    };
    follow();
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [conflicts]);
  if (!hasConflicts) return null;
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
      {open && dialog && (
        <dialog.ConflictDialog key={openKey} conflict={open} deckId={deckId} close={() => setOpenKey(undefined)} />
      )}
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
