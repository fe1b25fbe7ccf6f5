import { DecisionLink } from "../conflicts/decision-link.tsx";
import { DECISION } from "../slides/slide-state.ts";
import { usePending, useSyncStatus } from "../sync.ts";
import { statusWords } from "./status-words.ts";
import { useNow } from "./use-now.ts";

/** How the window stands with the server: a dot, plain words, and what waits. */
export function SyncLine() {
  const status = useSyncStatus();
  const blocked = usePending((pending) => pending.filter((mutation) => mutation.phase === "blocked").length);
  const now = useNow(status.pending > 0);
  const { mood, says, waiting } = statusWords(status, blocked, now);
  return (
    <p className="sync-line" data-mood={mood} title={status.reason}>
      <span className="dot" aria-hidden="true" />
      {/* The age is outside the live region: a screen reader would say it every second. */}
      <span role="status">{says === DECISION ? <DecisionLink>{says}</DecisionLink> : says}</span>
      {waiting && <span className="sync-waiting">{waiting}</span>}
    </p>
  );
}
