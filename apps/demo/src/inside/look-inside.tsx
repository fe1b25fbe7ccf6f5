import { useState } from "react";
import type { Inside } from "./inside.tsx";

/** The devtools panel on this page. It is loaded on request. */
export function LookInside({ deckId }: { deckId: string }) {
  const [loaded, setLoaded] = useState<{ readonly Inside: typeof Inside }>();
  const [isOpen, setOpen] = useState(false);
  const [says, setSays] = useState("");

  const open = async () => {
    setOpen(true);
    try {
      setLoaded(await import("./inside.tsx"));
      setSays("");
    } catch {
      setOpen(false);
      setSays("It could not be fetched.");
    }
  };
  const close = () => setOpen(false);

  return (
    <div className="look-inside">
      <span role="status">{says}</span>
      <button
        type="button"
        className="quiet"
        title="A panel for developers: who sends, what waits, what happened"
        aria-expanded={isOpen}
        onClick={() => (isOpen ? close() : void open())}
      >
        Look inside
      </button>
      {isOpen && loaded && <loaded.Inside deckId={deckId} close={close} />}
    </div>
  );
}
